# Settings that have to go together and do not, a line each. Input: an array of a rendered overlay's objects; $workers and
# $budget (seconds) are the function's defaults.

# Of "15s" and "PT0.5S".
def seconds: gsub("[^0-9.]"; "") | tonumber;

(.[] | select(.kind == "Service" and (.apiVersion | startswith("serving."))) | .spec.template) as $function
| (.[] | select(.kind == "PingSource") | .spec.schedule) as $schedule
| (first(.[] | select(.kind == "Broker") | .metadata.annotations["eventing.knative.dev/broker.class"]) // "") as $class
| ($function.spec.containerConcurrency | select(. != $workers) | "containerConcurrency is \(.), and the function has \($workers) workers"),
  ($function.spec.timeoutSeconds | select(. <= $budget) | "timeoutSeconds is \(.), and an event may take \($budget) s"),
  ($function.metadata.annotations["autoscaling.knative.dev/window"] | seconds | select(. + 30 >= 60)
    | "with a window of \(.) s the function is not at zero before the next tick"),
  ($schedule | select(. != "* * * * *") | "the schedule is \(.), and pollInterval 1m by default"),
  (.[] | select(.kind == "Trigger" and $class == "MTChannelBasedBroker") | .metadata.name as $name
    | .spec.delivery | (.backoffDelay | seconds) * (pow(2; .retry) - 1) | select(. > 15)
    | "Trigger \($name) holds up its source for \(.) s"),
  (.[] | select(.kind == "Trigger" and (.spec.delivery.deadLetterSink | not)) | "Trigger \(.metadata.name) has no dead letter sink")
