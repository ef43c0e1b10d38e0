# The references of a rendered overlay that lead nowhere, a line each. Input: an array of its objects.

# Kind and name of everything that is there, and of what others bring.
(map("\(.kind) \(.metadata.name)") + $elsewhere) as $there

| def pod: .spec.template.spec? // empty;

  def wanted:
    (.spec | objects | (.sink, .subscriber, .delivery.deadLetterSink) | objects | .ref | "\(.kind) \(.name)"),
    (select(.kind == "Trigger") | "Broker \(.spec.broker)"),
    (select(.kind == "Broker") | .spec.config | objects | "\(.kind) \(.name)"),
    (select(.kind == "ApiServerSource") | "ServiceAccount \(.spec.serviceAccountName // "default")"),
    (.roleRef | objects | "\(.kind) \(.name)"),
    (.subjects[]? | "\(.kind) \(.name)"),
    (pod | .serviceAccountName | strings | "ServiceAccount \(.)"),
    (pod | .volumes[]? | .secret | objects | "Secret \(.secretName)"),
    (pod | .volumes[]? | .configMap | objects | "ConfigMap \(.name)"),
    (pod | .volumes[]? | .persistentVolumeClaim | objects | "PersistentVolumeClaim \(.claimName)");

  # A plain Service leads to pods by their labels.
  (map(select(.kind == "Deployment") | .spec.template.metadata.labels)) as $pods

| .[]
| "\(.kind) \(.metadata.name)" as $from
| (wanted | select(IN($there[]) | not) | "\($from) refers to \(.), which is not there"),
  (select(.kind == "Service" and .apiVersion == "v1") | .spec.selector as $selector
   | select(any($pods[]; contains($selector)) | not) | "\($from) selects no pod"),
  (select(.metadata.namespace? and .metadata.namespace != $namespace) | "\($from) is in the namespace \(.metadata.namespace)"),
  (.subjects[]? | select(.namespace != $namespace) | "\($from) binds an account of the namespace \(.namespace)")
