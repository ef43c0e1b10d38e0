# What an adapter over all namespaces is told to watch, a line each. Input: an array of a rendered overlay's objects.

# As Knative guesses a kind's plural.
def plural: ascii_downcase | if endswith("s") then . + "es" elif endswith("y") then .[:-1] + "ies" else . + "s" end;

.[]
| (select(.kind == "ApiServerSource" and .spec.namespaceSelector == {})
    | .spec | .mode as $mode | .resources[]
    | [$mode, (.apiVersion | split("/")[]), (.kind | plural), (.selector.matchLabels // {} | to_entries[] | "\(.key)=\(.value)")]),
  (select(.kind == "ContainerSource")
    | .spec.template.spec.containers[0].env[] | select(.name == "K_SOURCE_CONFIG") | .value | fromjson
    | select(.allNamespaces and .namespaces == [""]) | .mode as $mode | .resources[]
    | [$mode, (.gvr | .Group, .Version, .Resource), (.selector | strings)])
| join(" ")
