// Asks a chat model that may call a function of this program, runs the function, and prints the answer.
//   npm install ./patchbay-gateway-*.tgz      # the packed file: docs/guides/install.md
//   PATCHBAY_URL=http://127.0.0.1:8080 PATCHBAY_API_KEY=… node chat-with-tools.ts "What is the weather in Oslo?"
import { argv } from "node:process";
import { type ChatMessage, Patchbay } from "patchbay-gateway/client";

const MOST_ROUNDS = 5;
const tools = [
  {
    type: "function" as const,
    function: {
      name: "weather",
      description: "The weather in a city",
      parameters: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false,
      },
    },
  },
];

/** What a model sends is input like any other: check it before it is used. */
function weather(json: string): string {
  const { city } = JSON.parse(json) as { city?: unknown };
  return typeof city === "string" ? `4 degrees and rain in ${city}` : "error: no city";
}

const patchbay = new Patchbay(); // reads PATCHBAY_URL and PATCHBAY_API_KEY
const messages: ChatMessage[] = [{ role: "user", content: argv[2] ?? "What is the weather in Oslo?" }];
for (let round = 1; round <= MOST_ROUNDS; round += 1) {
  const answer = await patchbay.chat({ messages, tools, max_tokens: 500 });
  if (answer.finish_reason !== "tool_calls") {
    console.log(answer.content);
    break;
  }
  messages.push({ role: "assistant", content: answer.content, tool_calls: answer.tool_calls });
  for (const { id, name, arguments: json } of answer.tool_calls) {
    console.log(`call ${name} ${json}`);
    const result = name === "weather" ? weather(json) : `error: there is no function ${name}`;
    messages.push({ role: "tool", tool_call_id: id, content: result });
  }
}
