// Composes what observes requests and calls: metrics and traces, and the alerts that listen to the same reports.
import { type Alerts, openAlerts, type OpenAlertsOptions } from "./alerts.ts";
import { openTelemetry, type OpenTelemetryOptions, type Telemetry } from "./telemetry.ts";

type ObserverOptions = Omit<OpenAlertsOptions, "metrics"> & OpenTelemetryOptions;

export function openObservers(options: ObserverOptions): { readonly alerts: Alerts; readonly metrics: Telemetry } {
  const telemetry = openTelemetry(options);
  const alerts = openAlerts({ ...options, metrics: telemetry });
  return {
    alerts,
    metrics: {
      ...telemetry,
      recorded: (record) => {
        telemetry.recorded(record);
        alerts.recorded(record);
      },
      modelSubstituted: (seen) => {
        telemetry.modelSubstituted(seen);
        alerts.modelSubstituted(seen);
      },
    },
  };
}
