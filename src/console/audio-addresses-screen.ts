// The hosts from which apps of a workspace may fetch recordings (`audio.url`): the workspace's own list and the shared one.
import type { AudioUrlDomainsView } from "../contract/admin/audio-url-domains.ts";
import type { Outcome } from "../page/ask.ts";
import { element } from "../page/element.ts";
import { audioUrlCheckPart } from "./audio-url-check.ts";
import { confirmed } from "./dialog.ts";
import { formView } from "./form-view.ts";
import { refusedAs } from "./refused-at.ts";
import type { Visit } from "./visit.ts";
import { part, timeView } from "./words.ts";

const PATH = "/audio-url-domains";

export async function showAudioAddresses(visit: Visit): Promise<readonly Node[]> {
  const { data: view, etag } = await visit.readWithEtag<AudioUrlDomainsView>(PATH);
  return [
    element(
      "p",
      {},
      "An app may send the URL of a recording, ",
      element("code", {}, "audio.url"),
      ", and the gateway fetches it over https, only from the hosts below. Hosts must have public addresses.",
    ),
    ownPart(visit, view, etag),
    globalPart(view),
    audioUrlCheckPart(visit),
  ];
}

function ownPart(
  visit: Visit,
  { domains, max_domains: most, updated_at: changedAt }: AudioUrlDomainsView,
  etag: string | null,
): HTMLElement {
  if (most === 0)
    return part("Allowed hosts", element("p", {}, "The operator does not allow workspaces to have their own list."));
  const changed = changedAt === null ? [] : [element("p", { class: "soft" }, "Changed ", timeView(changedAt))];
  return part(
    "Allowed hosts",
    ...changed,
    formView<AudioUrlDomainsView>({
      fields: [
        {
          kind: "lines",
          name: "domains",
          label: "One host per line",
          hint: `At most ${most}. A host name such as media.example.com, without https://, port or path; *.example.com allows a.example.com, but neither example.com nor a.b.example.com. Left empty, only the operator's hosts are allowed.`,
          placeholder: "media.example.com",
          value: domains.join("\n"),
        },
      ],
      submit: "Save",
      confirm: (body) => mayGo(domains, hostsIn(body)),
      send: (body) => replace(visit, hostsIn(body), etag),
      done: async (saved) => {
        visit.say(saved.domains.length === 1 ? "1 host is allowed." : `${saved.domains.length} hosts are allowed.`);
        await visit.redraw();
      },
      again: () => visit.redraw(),
    }),
  );
}

const hostsIn = ({ domains }: Readonly<Record<string, unknown>>): readonly string[] =>
  Array.isArray(domains) ? domains.map(String) : [];

/** Confirms the removal of hosts, and only of these. */
async function mayGo(before: readonly string[], domains: readonly string[]): Promise<boolean> {
  const staying = new Set(domains.map((domain) => domain.toLowerCase()));
  const removed = before.filter((domain) => !staying.has(domain));
  const what = `${removed.join(", ")}: requests and jobs with a recording there are rejected from now on. You can add it again.`;
  return removed.length === 0 || confirmed("Remove these hosts?", what, "Remove");
}

/** Maps each error to the typed host: `domains[1]` means nothing to a user who typed lines. */
async function replace(
  visit: Visit,
  domains: readonly string[],
  ifMatch: string | null,
): Promise<Outcome<AudioUrlDomainsView>> {
  const outcome = await visit.ask<AudioUrlDomainsView>("PUT", PATH, { body: { domains }, ifMatch });
  return refusedAs(outcome, (message) =>
    message.replace(/^domains\[(\d+)\]/u, (_, at: string) => `“${domains[Number(at)] ?? ""}”`),
  );
}

function globalPart({ global_domains: domains }: AudioUrlDomainsView): HTMLElement {
  const list = element("ul", {}, ...domains.map((domain) => element("li", {}, element("code", {}, domain))));
  return part("Shared hosts", domains.length === 0 ? element("p", {}, "None.") : list);
}
