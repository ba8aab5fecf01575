// Declares `patchbay jobs …`: its subcommands, options and help.
import { type Command, Option } from "commander";
import { EXPORT_FORMATS, JOB_STATUSES } from "../../contract/jobs.ts";
import { sendingOptions } from "./client-commands.ts";
import { withConnectionOptions, helpFooter, jsonOption, limitOption, outputOption, type Run } from "../command-kit.ts";
import {
  cancelJob,
  type JobListOptions,
  type JobOptions,
  type JobResultOptions,
  listJobs,
  printJobResult,
  showJob,
  submitJob,
  type SubmitOptions,
  waitForJob,
} from "./jobs.ts";
import { addFieldOptions } from "./transcription-options.ts";

export function addJobs(program: Command, run: Run): void {
  const jobs = program
    .command("jobs")
    .description("Transcribe long recordings as durable jobs that survive restarts.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay jobs submit hearing.mp3 --diarization",
        "patchbay jobs submit https://media.acme.example/hearing.mp3 --metadata case=4711 --wait",
        "patchbay jobs wait job_01m7xvdv3gfy48mypwbq45tkm4",
        "patchbay jobs result job_01m7xvdv3gfy48mypwbq45tkm4 --format srt -o hearing.srt",
        "patchbay jobs list --status failed",
      ),
    );
  addSubmit(jobs, run);
  withConnectionOptions(
    jobs
      .command("list")
      .addHelpText(
        "after",
        helpFooter("patchbay jobs list", "patchbay jobs list --status failed --limit 50", "patchbay jobs list --json"),
      )
      .alias("ls")
      .description("List the app's jobs, newest first."),
  )
    .addOption(new Option("--status <status>", "Filter by state.").choices(JOB_STATUSES))
    .addOption(limitOption())
    .action((options: JobListOptions) => run.interruptibly(() => listJobs(options, run.terminal, run.signal)));
  one(
    jobs
      .command("get")
      .addHelpText("after", helpFooter("patchbay jobs get job_01m7xvdv3gfy48mypwbq45tkm4"))
      .description("Print the state of a job."),
  ).action((id: string, options: JobOptions) =>
    run.interruptibly(() => showJob(id, options, run.terminal, run.signal)),
  );
  withResult(
    jobs
      .command("wait")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay jobs wait job_01m7xvdv3gfy48mypwbq45tkm4",
          "patchbay jobs wait job_01m7xvdv3gfy48mypwbq45tkm4 --format srt -o hearing.srt",
        ),
      )
      .description("Wait until a job has ended, then print its transcript. Exit code 8 if it has none."),
  ).action((id: string, options: JobResultOptions) =>
    run.interruptibly(() => waitForJob(id, options, run.terminal, run.signal)),
  );
  withResult(
    jobs
      .command("result")
      .addHelpText(
        "after",
        helpFooter(
          "patchbay jobs result job_01m7xvdv3gfy48mypwbq45tkm4",
          "patchbay jobs result job_01m7xvdv3gfy48mypwbq45tkm4 --format vtt -o hearing.vtt",
        ),
      )
      .description("Print the transcript of a job that has ended."),
  ).action((id: string, options: JobResultOptions) =>
    run.interruptibly(() => printJobResult(id, options, run.terminal, run.signal)),
  );
  one(
    jobs
      .command("cancel")
      .addHelpText("after", helpFooter("patchbay jobs cancel job_01m7xvdv3gfy48mypwbq45tkm4"))
      .description("Cancel a job and print its state. A job that has ended is not changed."),
  ).action((id: string, options: JobOptions) =>
    run.interruptibly(() => cancelJob(id, options, run.terminal, run.signal)),
  );
}

function addSubmit(jobs: Command, run: Run): void {
  const command = jobs
    .command("submit")
    .description("Submit a recording and print the job's id once it is stored.")
    .addHelpText(
      "after",
      helpFooter(
        "patchbay jobs submit hearing.mp3",
        "patchbay jobs submit hearing.mp3 --task translate --to-language en --wait",
        "patchbay jobs submit https://media.acme.example/hearing.mp3 --metadata case=4711 --json",
      ),
    )
    .addOption(jsonOption())
    .addOption(new Option("--wait", "Wait for the transcript and print it, like `jobs wait`."));
  addFieldOptions(sendingOptions(command, "Submit"), "job").action((file: string | undefined, options: SubmitOptions) =>
    run.interruptibly(() => submitJob(file, options, run.terminal, run.signal)),
  );
}

function withResult(command: Command): Command {
  return one(command)
    .addOption(new Option("--format <format>", "Format of the transcript; conversion is free.").choices(EXPORT_FORMATS))
    .addOption(outputOption());
}

function one(command: Command): Command {
  return withConnectionOptions(command.argument("<id>", "The job's id."));
}
