// Declares `patchbay requests show|list|tail`: the subcommands, their options and help.
import { type Command, Option } from "commander";
import { REQUEST_OUTCOMES } from "../../contract/admin/request-list.ts";
import { adminKeyOption, helpFooter, limitOption, type Run, urlOption, workspaceOption } from "../command-kit.ts";
import { listRequests, type RequestLogOptions, tailRequests } from "./request-log.ts";
import { type RequestOptions, showRequest } from "./show-request.ts";

export function addRequests(program: Command, run: Run): void {
  const requests = program
    .command("requests")
    .description("Inspect the request log and routing decisions.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay requests show req_01m7xvdv3gfy48mypwbq45tkm4",
        "patchbay requests list --outcome failed --limit 50",
        "patchbay requests tail --workspace acme",
        "patchbay requests tail --admin-url http://127.0.0.1:8081 --json",
      ),
    );
  requests
    .command("show")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay requests show req_01m7xvdv3gfy48mypwbq45tkm4",
        "patchbay requests show req_01m7xvdv3gfy48mypwbq45tkm4 --admin-url http://127.0.0.1:8081 --json",
      ),
    )
    .description("Print the record of a request: its parameters, targets, calls and cost.")
    .argument("<id>", "The X-Request-Id of the response.")
    .addOption(new Option("--json", "Print the whole record as one JSON document."))
    .addOption(
      new Option("--workspace <workspace>", "Workspace, by slug or id (default: that of an administrator's key)."),
    )
    .addOption(
      new Option(
        "--admin-url <url>",
        "Address of the admin listener, for the operator's key (default: that of the gateway here).",
      ),
    )
    .addOption(urlOption())
    .addOption(new Option("--api-key <key>", "Key of the request's app (PATCHBAY_API_KEY; default as for transcribe)."))
    .action(async (id: string, options: RequestOptions) => {
      await run.interruptibly(() => showRequest(id, options, run.terminal, run.signal));
    });
  const log = (command: Command): Command =>
    command
      .addOption(workspaceOption())
      .addOption(new Option("--admin-url <url>", "Address of the admin listener: the requests of all workspaces."))
      .addOption(new Option("--app <id>", "Filter by app."))
      .addOption(new Option("--key <id>", "Filter by key."))
      .addOption(new Option("--outcome <outcome>", "Filter by outcome.").choices(REQUEST_OUTCOMES))
      .addOption(new Option("--code <code>", "Filter by error code."))
      .addOption(limitOption("Maximum number, or the number shown first (default: 20)."))
      .addOption(new Option("--json", "Print one JSON document per line."))
      .addOption(urlOption())
      .addOption(adminKeyOption());
  log(
    requests
      .command("list")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay requests list --workspace acme",
          "patchbay requests list --admin-url http://127.0.0.1:8081 --outcome failed --limit 50",
        ),
      )
      .alias("ls")
      .description("List requests, newest first."),
  )
    .addOption(new Option("--from <time>", "Start time, such as 2027-01-31T00:00:00Z."))
    .addOption(new Option("--to <time>", "End time (exclusive)."))
    .action(async (options: RequestLogOptions) => {
      await run.interruptibly(() => listRequests(options, run.terminal, run.signal));
    });
  log(
    requests
      .command("tail")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay requests tail --workspace acme",
          "patchbay requests tail --admin-url http://127.0.0.1:8081 --json",
        ),
      )
      .description("Show the latest requests and follow new ones."),
  ).action(async (options: RequestLogOptions) => {
    await run.interruptibly(() => tailRequests(options, run.terminal, run.signal));
  });
}
