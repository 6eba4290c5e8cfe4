# All fields of the object, or with ?manager=helm those of a manager; looked for in the cluster of the provider's configuration.
terraform import ssaplan_object.web 'shop/apps/v1/Deployment/web'
