// The status of a model for people, in command line and console: "ends in 30 days" [providers.model-status].

/** `daysLeft` is null unless the status is `ending`. */
export function lifeText(status: string, daysLeft: number | null): string {
  if (daysLeft === null) return status;
  return `ends in ${daysLeft} ${daysLeft === 1 ? "day" : "days"}`;
}
