// Reads a parameter of a request's path, such as the job of `/v1/transcription/jobs/:job_id`.
import type { HandlerContext } from "./endpoint.ts";

/** `name` is a parameter of the endpoint's own path, so the router has always set it. */
export function pathParameter({ request }: Pick<HandlerContext, "request">, name: string): string {
  const value = request.params[name];
  if (value === undefined) throw new Error(`the path has no parameter ${name}`);
  return value;
}
