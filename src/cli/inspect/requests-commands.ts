// `patchbay requests show|list|tail`: commands and help.
import { type Command, Option } from "commander";
import { REQUEST_OUTCOMES } from "../../contract/admin/request-list.ts";
import { adminKeyOption, examples, limitOption, type Run, urlOption, workspaceOption } from "../command-kit.ts";
import { listRequests, type RequestLogOptions, tailRequests } from "./request-log.ts";
import { type RequestOptions, showRequest } from "./requests.ts";

export function addRequests(program: Command, run: Run): void {
  const requests = program
    .command("requests")
    .description("See what was asked, and why it went where it went.")
    .addHelpText(
      "before",
      examples(
        "patchbay requests show req_01m7xvdv3gfy48mypwbq45tkm4",
        "patchbay requests list --outcome failed --limit 50",
        "patchbay requests tail --workspace acme",
        "patchbay requests tail --admin-url http://127.0.0.1:8081 --json",
      ),
    );
  requests
    .command("show")
    .description("Print the record of one request: what was asked, each target, each call, its cost.")
    .argument("<id>", "The X-Request-Id of the answer.")
    .addOption(new Option("--json", "Print the whole record: exactly one JSON document on stdout."))
    .addOption(new Option("--workspace <workspace>", "As an administrator of this workspace, by slug or id."))
    .addOption(new Option("--admin-url <url>", "As the operator: address of the admin listener."))
    .addOption(urlOption())
    .addOption(new Option("--api-key <key>", "Key of the request's app (PATCHBAY_API_KEY; default as for transcribe)."))
    .action(async (id: string, options: RequestOptions) => {
      await run.interruptibly(() => showRequest(id, options, run.terminal, run.signal));
    });
  const log = (command: Command): Command =>
    command
      .addOption(workspaceOption())
      .addOption(new Option("--admin-url <url>", "Address of the admin listener: the requests of all workspaces."))
      .addOption(new Option("--app <id>", "Only this app's."))
      .addOption(new Option("--key <id>", "Only this key's."))
      .addOption(new Option("--outcome <outcome>", "Only these.").choices(REQUEST_OUTCOMES))
      .addOption(new Option("--code <code>", "Only those that ended with this code."))
      .addOption(limitOption("How many at most, or to begin with; 20 unless given."))
      .addOption(new Option("--json", "Print each request as a line of JSON."))
      .addOption(urlOption())
      .addOption(adminKeyOption());
  log(requests.command("list").alias("ls").description("List requests, newest first."))
    .addOption(new Option("--from <time>", "Not before this time, such as 2027-01-31T00:00:00Z."))
    .addOption(new Option("--to <time>", "Before this time."))
    .action(async (options: RequestLogOptions) => {
      await run.interruptibly(() => listRequests(options, run.terminal, run.signal));
    });
  log(requests.command("tail").description("Show the latest requests, and each new one as it ends.")).action(
    async (options: RequestLogOptions) => {
      await run.interruptibly(() => tailRequests(options, run.terminal, run.signal));
    },
  );
}
