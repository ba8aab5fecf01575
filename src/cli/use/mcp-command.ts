// Declares the command `patchbay mcp`, which offers a running gateway as tools of a Model Context Protocol client over stdin and stdout: its options and
// help.
import { once } from "node:events";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { apiKeyOption, helpFooter, type Run, urlOption } from "../command-kit.ts";
import { gatewayUrl } from "../gateway-url.ts";
import { mcpGateway, type McpOptions } from "./mcp-gateway.ts";
import { packageRoot } from "../package-root.ts";
import { CliError, printLine } from "../terminal.ts";
import { EXIT } from "../exit-codes.ts";

export function addMcp(program: Command, run: Run): void {
  program
    .command("mcp")
    .description("Serve a running gateway as tools to a Model Context Protocol client over stdin and stdout.")
    .addHelpText(
      "after",
      helpFooter("patchbay mcp", "patchbay mcp --jobs", "patchbay mcp --url https://speech.acme.example"),
    )
    .addOption(new Option("--jobs", "Also offer tools that submit and cancel jobs."))
    .addOption(urlOption())
    .addOption(apiKeyOption())
    .action(async (options: McpOptions) => {
      await run.interruptibly(() => serve(options, run));
    });
}

/** Runs until the client closes stdin, or Ctrl-C. */
async function serve(options: McpOptions, { terminal, signal }: Run): Promise<void> {
  const { stdin, stdout } = terminal;
  // Checked first: otherwise each tool would report an invalid address to a model.
  gatewayUrl(options.url, terminal);
  if (stdin.isTTY === true)
    throw new CliError(
      EXIT.usage,
      "This command expects a Model Context Protocol client on stdin, which is a terminal here.",
      {
        hints: [`add it to a client: ${clientEntry(terminal.command)}`],
      },
    );
  // Loaded here because no other command needs them.
  const [{ serveStdio, StdioServerTransport }, { makeToolServer }] = await Promise.all([
    import("@modelcontextprotocol/server/stdio"),
    import("../../mcp/tool-server.ts"),
  ]);
  const gateway = mcpGateway(options, terminal);
  const inputEnd = once(stdin, "end", { signal });
  const connection = serveStdio(() => makeToolServer(gateway, { offersJobs: options.jobs === true }), {
    transport: new StdioServerTransport(stdin, stdout),
    onerror: (error) => void printLine(terminal, `mcp: ${error.message}`),
  });
  try {
    await inputEnd;
  } finally {
    await connection.close();
  }
}

/** Entry of a client's configuration. A client calls it from any directory, with a PATH of its own. */
function clientEntry(command = "patchbay"): string {
  if (command === "patchbay") return '{ "command": "patchbay", "args": ["mcp"] }';
  return `{ "command": "node", "args": [${JSON.stringify(join(packageRoot(), "bin", "patchbay.js"))}, "mcp"] }`;
}
