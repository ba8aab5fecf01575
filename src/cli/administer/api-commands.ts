// Declares the command `patchbay api`: its options and help.
import { type Command, InvalidArgumentError, Option } from "commander";
import { ENDPOINT_METHODS, type EndpointMethod } from "../../contract/endpoints/endpoint.ts";
import { type ApiOptions, callApi } from "./api.ts";
import { helpFooter, idempotencyKeyOption, outputOption, type Run } from "../command-kit.ts";
import { DEFAULT_ADMIN_URL, DEFAULT_URL } from "../gateway-url.ts";

export function addApi(program: Command, run: Run): void {
  program
    .command("api")
    .description(
      "Send any API request with the current key and print the answer, for operations without a command. See /openapi.json and /docs.",
    )
    .argument("<method>", ENDPOINT_METHODS.join(", "), parseMethod)
    .argument("<path>", "The path with its query, such as /v1/me.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay api GET /v1/me",
        "patchbay api GET /admin/v1/workspaces",
        `patchbay api POST /admin/v1/workspaces --data '{"slug":"acme"}'`,
        "patchbay api GET /workspace/acme/apps/notes/budgets",
        "patchbay api PUT /admin/v1/connections/dg --data @dg.json --if-match '*'",
      ),
    )
    .addOption(new Option("-d, --data <json>", "The body: JSON, @FILE, or `-` for stdin."))
    .addOption(new Option("--if-match <etag>", "ETag of the version to change; * for any version."))
    .addOption(idempotencyKeyOption())
    .addOption(new Option("-i, --include", "Print status and headers, including the ETag, on stderr."))
    .addOption(outputOption())
    .addOption(
      new Option(
        "--url <url>",
        `Address of the listener (PATCHBAY_ADMIN_URL below /admin, else PATCHBAY_URL; default: those of this directory's gateway, else ${DEFAULT_ADMIN_URL} and ${DEFAULT_URL}).`,
      ),
    )
    .addOption(
      new Option(
        "--api-key <key>",
        "Key (PATCHBAY_API_KEY; default: the one a gateway started here saved, below /admin and /workspace the operator's).",
      ),
    )
    .action((method: EndpointMethod, path: string, options: ApiOptions) =>
      run.interruptibly(() => callApi(method, path, options, run.terminal, run.signal)),
    );
}

function parseMethod(text: string): EndpointMethod {
  const method = ENDPOINT_METHODS.find((known) => known === text.toUpperCase());
  if (method === undefined) throw new InvalidArgumentError(`It must be one of ${ENDPOINT_METHODS.join(", ")}.`);
  return method;
}
