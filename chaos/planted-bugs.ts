import type { Letter } from './invariants/invariant.ts';
import type { BackendKind } from './options.ts';
import type { SourcePatch } from './source-patch.ts';

/** A bug for an invariant. It is inserted into a compiled copy of the recorder, whose own code has no hook for it. */
export interface PlantedBug {
  /** The invariant that must be violated with the bug. */
  readonly invariant: Letter;
  readonly bug: string;
  readonly patches: readonly SourcePatch[];
  /** The fault that reveals it: its number and the start of its title. */
  readonly fault: { readonly number: number; readonly title: string };
  readonly backend: BackendKind;
  /** SQL that removes the database objects that prevent the effect of the bug. */
  readonly undefended?: string;
}

const PAGES = 'datasets/sources/pages.ts';

export const plantedBugs: readonly PlantedBug[] = [
  {
    invariant: 'A',
    bug: 'the second page of a walk is skipped: the token is skipped as the place to continue from',
    patches: [
      {
        file: PAGES,
        from: 'yield this.#started({ ...page, last });',
        to: 'if (this.#pagesRead !== 2) yield this.#started({ ...page, last });',
      },
    ],
    fault: { number: 1, title: 'kill -9 at random moments' },
    backend: 'redis',
  },
  {
    invariant: 'B',
    bug: 'a commit whose response was lost is repeated',
    patches: [
      {
        file: 'recording/histories/log-history.ts',
        from: '} on conflict do nothing returning ',
        to: '} returning ',
      },
    ],
    fault: { number: 5, title: "the commit's response is lost" },
    backend: 'redis',
    // The index keeps its name, because a migration restores missing ones.
    undefended: `drop index recorder.proposed_blocks_key; create index proposed_blocks_key
      on recorder.proposed_blocks (network, blockchain_id, block_hash) where valid_to is null`,
  },
  {
    invariant: 'C',
    bug: 'coverage is committed before its rows: the first page claims the whole window',
    patches: [
      {
        file: PAGES,
        from: 'const proven = window && this.#from < window.to && !broken ? { from: this.#from, to: window.to } : null;',
        to: 'const proven = window;',
      },
    ],
    fault: { number: 1, title: 'kill -9 at random moments' },
    backend: 'redis',
  },
  {
    invariant: 'D',
    bug: 'a value that was answered again is stored as a revision',
    patches: [
      {
        file: 'recording/histories/versioned-history.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
        from: "${row('o')} is distinct from ${row('n')}",
        to: 'true',
      },
    ],
    fault: { number: 43, title: 'points revised, reverted, removed' },
    backend: 'redis',
  },
  {
    invariant: 'D',
    bug: 'no fence: a run that lost its lease commits what it saw before',
    patches: [
      {
        file: 'recording/commit.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: a text of the source
        from: ' and run_id = ${runId}\n',
        to: '\n',
      },
      // Nor does the worker detect by itself that its lease was lost.
      { file: 'recording/record.ts', from: 'kept || lose()', to: 'kept' },
    ],
    fault: { number: 16, title: 'a worker frozen with an old response' },
    backend: 'redis',
  },
  {
    invariant: 'E',
    bug: 'schedules are set once, at the start',
    patches: [
      {
        file: 'daemon/scheduler-role.ts',
        from: 'RECONCILE_INTERVAL_MS = 14_000',
        to: 'RECONCILE_INTERVAL_MS = 3_000_000',
      },
    ],
    fault: { number: 10, title: 'FLUSHALL' },
    backend: 'redis',
  },
  {
    invariant: 'F',
    bug: 'status always reports a healthy recording',
    patches: [
      {
        file: 'cli/commands/status.ts',
        from: 'return status.findings.length > 0 ? exitCode.failed : exitCode.done',
        to: 'return exitCode.done',
      },
    ],
    fault: { number: 28, title: '429 for a minute' },
    backend: 'redis',
  },
  {
    invariant: 'G',
    bug: 'the size of a response is not limited',
    patches: [
      {
        file: 'app/upstream-opener.ts',
        from: 'MAX_RESPONSE_BYTES = 16 * 1024 * 1024',
        to: 'MAX_RESPONSE_BYTES = 400_000_000',
      },
    ],
    fault: { number: 33, title: '1 GB body' },
    backend: 'redis',
  },
  {
    invariant: 'H',
    bug: 'texts of an upstream are stored without redaction',
    patches: [
      {
        file: 'lib/redaction.ts',
        from: 'if (known.length === 0)',
        to: 'if (known.length >= 0)',
      },
    ],
    fault: { number: 30, title: '401 and 403' },
    backend: 'redis',
  },
  {
    invariant: 'I',
    bug: 'unobserved time counts as up',
    // A sleeping machine is detected twice: its loop stalled, and its clock jumped ahead.
    patches: [
      { file: 'health/prober.ts', from: 'MAX_TICK_GAP_MS = 2_000;', to: 'MAX_TICK_GAP_MS = 2_000_000_000;' },
      { file: 'health/prober.ts', from: 'if (moved.skipped)', to: 'if (!moved)' },
    ],
    fault: { number: 19, title: 'the machine sleeps' },
    backend: 'redis',
  },
  {
    invariant: 'K',
    bug: 'the watchdog finds nothing',
    patches: [
      {
        file: 'reporting/reports/findings.ts',
        from: 'from reporting.findings order by',
        to: 'from reporting.findings where false order by',
      },
    ],
    fault: { number: 71, title: 'a stalled recording' },
    backend: 'redis',
  },
  {
    invariant: 'L',
    bug: 'a refused insert is not bisected: the whole page is dropped',
    patches: [
      {
        file: 'recording/run.ts',
        from: '!refusesRows(error) || buffer.rowCount === 0',
        to: 'refusesRows(error) || buffer.rowCount === 0',
      },
    ],
    fault: { number: 55, title: 'keys of short parts' },
    backend: 'redis',
  },
  {
    invariant: 'X',
    bug: 'a usage error exits like any failure',
    patches: [{ file: 'app/exit-code.ts', from: 'usage: 2', to: 'usage: 1' }],
    fault: { number: 12, title: 'maxmemory-policy' },
    backend: 'redis',
  },
];
