// What an application does with generated clients. Compiled and run by generated-client.test.ts, in a folder with the generated types.
import { readFile } from "node:fs/promises";
import createClient from "openapi-fetch";
import type { paths as AdminPaths } from "./admin.ts";
import type { components, paths } from "./public.ts";

const env = (name: string): string => {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};
const authorized = (key: string) => ({ headers: { Authorization: `Bearer ${env(key)}` } });
const client = createClient<paths>({ baseUrl: env("PATCHBAY_URL"), ...authorized("PATCHBAY_API_KEY") });
const admin = createClient<AdminPaths>({ baseUrl: env("PATCHBAY_ADMIN_URL"), ...authorized("OPERATOR_KEY") });

const recording = new Blob([await readFile("call.mp3")]);
/** Sends the fields as a form, with the recording as its file. */
const asForm = (fields: object): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (name === "file") form.append(name, recording, String(value));
    else form.append(name, String(value));
  }
  return form;
};

const transcription = await client.POST("/v1/transcription", {
  body: { file: "call.mp3", diarization: true },
  bodySerializer: asForm,
});
if (transcription.error !== undefined) throw new Error(JSON.stringify(transcription.error));
const lines = transcription.data;
// The same endpoint can answer captions, which are text, and the decision of a dry run.
if (typeof lines === "string" || !("segments" in lines)) throw new Error(JSON.stringify(lines));
const [first]: components["schemas"]["Segment"][] = lines.segments;
console.log(`${first?.speaker ?? "?"}: ${first?.text ?? ""}`);

const submitted = await client.POST("/v1/transcription/jobs", { body: { file: "call.mp3" }, bodySerializer: asForm });
if (submitted.data === undefined || !("job_id" in submitted.data)) throw new Error(JSON.stringify(submitted.error));
const path = { job_id: submitted.data.job_id };
const ended = await client.GET("/v1/transcription/jobs/{job_id}", { params: { path, query: { wait: 60 } } });
const job = ended.data;
if (job === undefined || typeof job === "string" || !("job_id" in job)) throw new Error(JSON.stringify(ended.error));
const status: components["schemas"]["JobStatus"] = job.status;
console.log(status);

const unknown = await client.GET("/v1/transcription/jobs/{job_id}", { params: { path: { job_id: "job_1" } } });
console.log(unknown.error !== undefined && "error" in unknown.error ? unknown.error.error.code : "no error");

// @ts-expect-error a field that the endpoint does not have
await client.POST("/v1/chat", { body: { message: "Hello" } });

const owner = { params: { path: { tenant_id: "acme" } } };
const app = { slug: "support", name: "Support calls", route: "speech" };
const created = await admin.POST("/admin/v1/workspaces/{tenant_id}/apps", { ...owner, body: app });
console.log(created.data?.slug);
// @ts-expect-error an app needs a route
await admin.POST("/admin/v1/workspaces/{tenant_id}/apps", { ...owner, body: { slug: "another" } });
const apps = await admin.GET("/admin/v1/workspaces/{tenant_id}/apps", owner);
for (const { slug } of apps.data?.data ?? []) console.log(slug);
