// The main job through the TypeScript SDK: search, remember, correct, recall.
//
//   node main_job.mjs <python> <vault>
//
// Starts `<python> -m zibaldone.tools mcp --vault <vault>` and prints one JSON report. The server checks
// nothing here: what the answers have to be is asserted by the test that runs this.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [python, vault] = process.argv.slice(2);
if (!python || !vault) {
  console.error("usage: node main_job.mjs <python> <vault>");
  process.exit(2);
}

const client = new Client({ name: "typescript-client", version: "0.0.0" });
const server = ["-m", "zibaldone.tools", "mcp", "--vault", vault];
const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));

async function call(name, args) {
  const answer = await client.callTool({ name, arguments: args });
  const text = (answer.content ?? []).map((part) => part.text ?? "").join("\n");
  return { isError: answer.isError === true, structured: answer.structuredContent, text };
}

/** The answer of a tool that must succeed; ends the run with its words when it does not. */
async function must(name, args) {
  const answer = await call(name, args);
  if (answer.isError || answer.structured === undefined) {
    throw new Error(`${name}(${JSON.stringify(args)}): ${answer.text}`);
  }
  return answer.structured;
}

/** What a call that must be refused says, however the server puts it on the wire. */
async function refusal(name, args) {
  try {
    const answer = await call(name, args);
    return { refused: answer.isError, text: answer.text };
  } catch (error) {
    return { refused: true, text: String(error.message) };
  }
}

async function mainJob() {
  const { tools } = await client.listTools();
  const notes = await must("list_notes", { limit: 100 });
  const neighbour = notes.notes.find((note) => note.project);
  const project = neighbour.project;
  const link = neighbour.path.replace(/\.md$/, "");
  const before = await must("search", { query: "quokka ferry timetable", limit: 5 });

  const user = await must("remember_about_user", {
    observation: "Takes the quokka ferry at 7:40 on weekdays.",
    category: "commuting",
    summary: "How she gets to work",
  });
  const again = await must("remember_about_user", {
    observation: "Takes the quokka ferry at 7:40 on weekdays.",
    category: "commuting",
  });
  const fact = `The quokka release waits for [[${link}]].`;
  const ofProject = await must("remember_about_project", { project, observation: fact, category: "decisions" });
  const after = await must("search", { query: "quokka", class: "agent-memory", limit: 5 });

  const edited = await must("edit_note", {
    ref: user.noteId,
    mode: "findReplace",
    find: "at 7:40 on weekdays",
    content: "at 8:15 on Mondays",
    versionToken: again.versionToken,
  });
  const note = await must("get_note", { ref: user.noteId });
  const recalled = await must("recall", {
    query: "quokka ferry release",
    project,
    budgetTokens: 1500,
    maxPerSource: 600,
    depth: 2,
  });
  const misspelt = await refusal("recall", { query: "quokka", budgetToken: 500 });
  const stale = await refusal("edit_note", {
    ref: user.noteId,
    mode: "findReplace",
    find: "8:15",
    content: "9:00",
    versionToken: again.versionToken,
  });
  const nowhere = await refusal("get_note", { ref: "no such note at all" });

  return {
    server: client.getServerVersion(),
    tools: tools.map(({ name, inputSchema, outputSchema, annotations }) => ({
      name,
      arguments: Object.keys(inputSchema.properties ?? {}),
      closed: inputSchema.additionalProperties === false,
      hasOutputSchema: outputSchema !== undefined,
      annotations: annotations ?? {},
    })),
    neighbour: neighbour.path,
    answers: { before, user, again, ofProject, after, edited, note, recalled },
    refusals: { misspelt, stale, nowhere },
  };
}

try {
  await client.connect(new StdioClientTransport({ command: python, args: server, env, stderr: "inherit" }));
  console.log(JSON.stringify(await mainJob()));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await client.close();
}
