# A Secret that another tool made, for another provider: base64decode(ephemeral.ssaplan_object.login.object.data.password).
# Neither the plan nor the state has it.
ephemeral "ssaplan_object" "login" {
  id = "shop/Secret/login"
}
