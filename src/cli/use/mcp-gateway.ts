// Implements the tools' interface to a gateway for `patchbay mcp`: calls over HTTP with the user's key, like every other command.
import { resolve } from "node:path";
import {
  type Recording,
  RefusedToolCall,
  type ToolAnswer,
  type ToolCall,
  type ToolGateway,
} from "../../mcp/tool-gateway.ts";
import { openSession, type GatewayOptions } from "../gateway-session.ts";
import { packageVersion } from "../package-root.ts";
import { readText } from "../read-answer.ts";
import { sendAudio } from "./send-audio.ts";
import { CliError, type Terminal } from "../terminal.ts";

export function mcpGateway(options: McpOptions, terminal: Terminal): ToolGateway {
  return {
    readsFiles: true,
    version: packageVersion(),
    parse: async (text) => JSON.parse(text),
    ask: ({ method = "GET", path, accept = "application/json" }: ToolCall, signal) =>
      toAnswer(() => openSession(options, terminal, signal).call(path, { method, headers: { accept } })),
    send: (path, { path: file, url, ...fields }: Recording, signal) =>
      toAnswer(() =>
        sendAudio({
          path,
          // Never `-`: stdin belongs to the MCP client.
          argument: file === undefined ? url : resolve(terminal.cwd, file),
          fields,
          options: { ...options },
          doing: "sending",
          terminal,
          signal,
        }),
      ),
    // The error occurred on the user's own machine, so its message may be shown.
    onFault: (error) => (error instanceof Error ? error.message : String(error)),
  };
}

async function toAnswer(call: () => Promise<Response>): Promise<ToolAnswer> {
  try {
    const response = await call();
    const { headers } = response;
    const isSimulated = headers.get("x-svc-simulated") === "true";
    return { text: await readText(response), requestId: headers.get("x-request-id"), isSimulated };
  } catch (error) {
    if (error instanceof CliError) throw new RefusedToolCall([error.message, ...error.hints], { cause: error });
    throw error;
  }
}

export interface McpOptions extends GatewayOptions {
  readonly jobs?: boolean;
}
