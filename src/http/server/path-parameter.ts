// What a request's path names, such as the job of `/v1/transcription/jobs/:job_id`.
import type { HandlerContext } from "./endpoint.ts";

/** Of the endpoint's own path, so that the router has found it there. */
export function pathParameter({ request }: Pick<HandlerContext, "request">, name: string): string {
  const value = (request.params as Readonly<Record<string, string | undefined>>)[name];
  if (value === undefined) throw new Error(`the path has no parameter ${name}`);
  return value;
}
