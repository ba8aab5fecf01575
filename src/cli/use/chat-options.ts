// Maps each field of a chat request to a command-line option [cli.every-field]. A test compares this list with the schema.
import { type Command, InvalidArgumentError, Option } from "commander";
import type { z } from "zod";
import { chatFields } from "../../contract/chat/checked-chat-fields.ts";
import { PROFILES } from "../../contract/features.ts";
import { repeatableOption } from "../command-kit.ts";
import { descriptionOf, policyOption } from "./transcription-options.ts";

type ChatField = keyof typeof chatFields.shape;

/** Options that set each field; `messages` also uses the command's arguments. */
export const CHAT_OPTIONS: Readonly<Record<ChatField, readonly string[]>> = {
  messages: ["system", "image", "audio", "messages"],
  max_tokens: ["max-tokens"],
  temperature: ["temperature"],
  top_p: ["top-p"],
  seed: ["seed"],
  stop: ["stop"],
  stream: ["stream"],
  tools: ["tools"],
  tool_choice: ["tool-choice"],
  parallel_tool_calls: ["parallel-tool-calls"],
  response_format: ["response-format", "schema"],
  purpose: ["purpose"],
  purpose_policy: ["purpose-policy"],
  response_profile: ["response-profile"],
  data_policy: ["data-policy"],
  dry_run: ["dry-run"],
};

export interface ChatFieldOptions {
  readonly system?: string;
  readonly image?: readonly string[];
  readonly audio?: readonly string[];
  readonly messages?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly topP?: number;
  readonly seed?: number;
  readonly stop?: readonly string[];
  readonly stream?: boolean;
  readonly tools?: string;
  readonly toolChoice?: string;
  readonly parallelToolCalls?: boolean;
  readonly responseFormat?: "text" | "json_object";
  readonly schema?: string;
  readonly purpose?: string;
  readonly purposePolicy?: string;
  readonly responseProfile?: string;
  readonly dataPolicy?: Readonly<Record<string, unknown>>;
  readonly dryRun?: boolean;
}

export function addChatOptions(command: Command): Command {
  return command
    .addOption(new Option("--system <text>", "System message before the conversation."))
    .addOption(repeatableOption("--image <file>", "A png, jpeg, webp or gif file sent with the message."))
    .addOption(repeatableOption("--audio <file>", "A wav or mp3 file sent with the message."))
    .addOption(new Option("--messages <file>", "Earlier messages: a JSON array, oldest first; `-` for stdin."))
    .addOption(new Option("--max-tokens <n>", doc("max_tokens")).argParser(parseNumber))
    .addOption(new Option("--temperature <n>", doc("temperature")).argParser(parseNumber))
    .addOption(new Option("--top-p <n>", doc("top_p")).argParser(parseNumber))
    .addOption(new Option("--seed <n>", doc("seed")).argParser(parseNumber))
    .addOption(repeatableOption("--stop <text>", doc("stop")))
    .addOption(new Option("--stream", `${doc("stream")} Default without --json.`))
    .addOption(new Option("--no-stream", "Wait for the whole answer, which makes retries safe."))
    .addOption(new Option("--tools <file>", `${doc("tools")} A JSON list.`))
    .addOption(new Option("--tool-choice <choice>", `${doc("tool_choice")} none, auto, required or a tool's name.`))
    .addOption(new Option("--parallel-tool-calls", doc("parallel_tool_calls")))
    .addOption(new Option("--no-parallel-tool-calls", "Send `parallel_tool_calls: false`.").hideHelp())
    .addOption(new Option("--response-format <format>", doc("response_format")).choices(["text", "json_object"]))
    .addOption(new Option("--schema <file>", "JSON Schema of the answer.").conflicts("responseFormat"))
    .addOption(new Option("--purpose <label>", doc("purpose")))
    .addOption(new Option("--purpose-policy <policy>", doc("purpose_policy")).choices(["fallback", "strict"]))
    .addOption(new Option("--response-profile <profile>", doc("response_profile")).choices(PROFILES))
    .addOption(policyOption("data-policy", doc("data_policy")))
    .addOption(new Option("--dry-run", doc("dry_run")));
}

/** Fields that copy an option's value, under their API names. */
export function plainFields(options: ChatFieldOptions): Record<string, unknown> {
  const { toolChoice, responseFormat } = options;
  const fields: Readonly<Record<string, unknown>> = {
    max_tokens: options.maxTokens,
    temperature: options.temperature,
    top_p: options.topP,
    seed: options.seed,
    stop: options.stop,
    tool_choice: toolChoice === undefined ? undefined : toolChoiceOf(toolChoice),
    parallel_tool_calls: options.parallelToolCalls,
    response_format: responseFormat === undefined ? undefined : { type: responseFormat },
    purpose: options.purpose,
    purpose_policy: options.purposePolicy,
    response_profile: options.responseProfile,
    data_policy: options.dataPolicy,
    dry_run: options.dryRun,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function toolChoiceOf(text: string): unknown {
  return ["none", "auto", "required"].includes(text) ? text : { type: "function", function: { name: text } };
}

function doc(field: ChatField): string {
  const shape: Readonly<Record<string, z.ZodType>> = chatFields.shape;
  const schema = shape[field];
  return schema === undefined ? "" : descriptionOf(schema as z.ZodOptional);
}

function parseNumber(text: string): number {
  if (!/^-?\d{1,15}(\.\d{1,15})?$/u.test(text)) throw new InvalidArgumentError("It must be a number.");
  return Number(text);
}
