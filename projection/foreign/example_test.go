package foreign_test

import (
	"encoding/json"
	"fmt"

	"github.com/ssaplan/primitives/projection/foreign"
)

func Example() {
	text := foreign.Text("denied\x1b[2J by\npolicy") // of a server, a webhook or a user
	fmt.Println(text)                                // control characters are escaped
	line, err := json.Marshal(text)
	fmt.Println(string(line), err)
	fmt.Println(text == "denied\x1b[2J by\npolicy") // true: it is compared as it came
	// Output:
	// denied\x1b[2J by\npolicy
	// "denied\u001b[2J by\npolicy" <nil>
	// true
}
