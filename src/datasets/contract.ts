import type { PgTable } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import type { Digits } from './fields.ts';
import type { PointInterval } from './point-grid.ts';
import type { StatedRequest } from './stated-request.ts';

/**
 * What becomes of a row that a run recorded:
 * `series` points whose value is revised; `log` things that should not change; `state` lists whose members come, change
 * and go; `sample` readings.
 */
export type History = 'series' | 'log' | 'state' | 'sample';

/** One thing an upstream is asked about, such as `{ chainId: '43114', metric: 'txCount', timeInterval: 'day' }`. */
export type Target = Readonly<Record<string, string>>;

/** A half-open range: milliseconds since 1970 on the axis `time`, block numbers on the axis `height`. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** One answer of an upstream (or several that belong together), with what it proves. */
export interface Page {
  readonly body: unknown;
  /** The part of the window that this page and the ones before it hold completely; null: nothing is proven yet. */
  readonly proven: Window | null;
  /** The walk is over: this page and the ones before it are all there is in the window (or in the list). */
  readonly last: boolean;
  /** On the axis of heights of an index: the end of what may be claimed of `proven`; absent: nothing. Exclusive. */
  readonly claimable?: number;
  /** False when, after a restart or an inconsistency, rows that were not seen may still exist; such a run is `partial`. */
  readonly whole: boolean;
  /** The height of the newest entry that the upstream has, of a source whose dataset is a chain. */
  readonly head?: number;
  /**
   * The first page of a list, as is the first page of a walk. Absent: the page continues the list of the page before, and the list may
   * have changed between the two.
   */
  readonly startsList?: true;
  /** How the list contradicts itself, such as a total that differs from the number of its items. The run is `partial` with this reason. */
  readonly contradiction?: string;
  /** Why something is missing from the answer, such as a method the node does not offer. Noted once on the run. */
  readonly note?: string;
}

/** How a source calls its upstream. Behind it calls are counted, delayed by the budget, and retried. */
export interface Ask {
  /** GET of a path below the upstream's URL; the parsed body of a 2xx answer. @throws UpstreamFailure when there is none */
  get(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<unknown>;
  /** POST of a JSON body; otherwise like {@link Ask.get}. @throws UpstreamFailure when there is no 2xx answer */
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** A JSON-RPC call; its `result`. @throws UpstreamFailure when there is none */
  rpc(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** One query of a health report, without retries. @throws UpstreamFailure if the answer is no health report */
  probe(
    path: string,
    call?: {
      readonly query?: Readonly<Record<string, string>>;
      /** JSON-RPC method; absent: a GET. */
      readonly method?: string;
      readonly params?: Readonly<Record<string, unknown>> | undefined;
    },
  ): Promise<unknown>;
  /** How many items to ask for a page: the seed's maximum, unless the configuration wants fewer. */
  pageSize(most: number): number;
  /** When the answer that is being read arrived, in ms since 1970. */
  readonly now: number;
}

/** What the configuration gives to the choice of targets. */
export interface Scope {
  readonly network: string;
  readonly observer: string;
  /** Into how many shares the observer's nodes are divided; 1: they are not. */
  readonly shares: number;
  readonly watch: {
    readonly chains: readonly string[];
    readonly nodeIds: readonly string[];
    readonly subnets: readonly string[];
    readonly addresses: readonly string[];
    readonly evmAddresses: readonly ChainAddress[];
    readonly contracts: readonly ChainAddress[];
    readonly collections: readonly ChainAddress[];
    readonly transactions: readonly { readonly chain: string; readonly hash: string }[];
    readonly assets: readonly string[];
  };
  readonly nodes: readonly string[];
  /** Health tags by node: each is probed for itself. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
  /** The override of this source's datasets in the configuration. */
  readonly options: { readonly metrics?: readonly string[]; readonly intervals?: readonly string[] };
}

interface ChainAddress {
  readonly chain: string;
  readonly address: string;
}

/**
 * The end of a window of heights that has no fixed end. The newest height of a chain is known only after asking.
 */
export const OPEN_END = Number.MAX_SAFE_INTEGER;

/** A window as a run requests it. */
export interface RequestedWindow extends Window {
  /**
   * Where the pages may start, at or below `from`: the last page is requested full, because a call costs the same for any
   * number of items. Absent: at `from`.
   */
  readonly reach?: number;
}

/** An index that a service builds of a chain. It may trail the chain, and show older items after newer ones. */
export interface Index {
  /** The name of the index that holds a target: what one of its targets is shown, the others could be shown, too. */
  readonly name: (target: Target) => string;
  /** The time of an item, ms since 1970; null if it cannot be read. */
  readonly timeOf: (item: unknown) => number | null;
  /** The time that an item is about, from its time on, ms; absent: it is about a moment. */
  readonly spanOf?: (target: Target) => number;
  /** Maximum number of items of one page. */
  readonly page: number;
}

/** A source whose answers are about a range of time or heights, so that what was missed can be fetched later. */
export interface Range {
  readonly axis: 'time' | 'height';
  /** Length of one window: sized so that a page or a few fill it. Infinity: one window, however long. */
  readonly span: (target: Target) => number;
  /** The newest part of the range that every poll requests again, because it may still change. */
  readonly head: (target: Target) => number;
  /** Items younger than this may still be missing from the answers, ms: their part of the range is not claimed as covered. */
  readonly settle: number;
  /**
   * The index that the items come from. Each poll requests its newest full page; windows that were answered are requested
   * again (`recording/requested-again.ts`), and nothing is claimed beyond what the index has shown. Absent: there is none.
   */
  readonly index?: Index;
  /**
   * How far back the first recording reaches: so many ms from now, or to a moment before which there was nothing. On the axis
   * of heights: Infinity means from the first block, 0 from the height at which the first run began.
   */
  readonly lookback: number | Date;
}

/** How a group of datasets is asked for. Datasets that share a source share its calls. */
export interface Source {
  readonly name: string;
  readonly upstream: 'chainData' | 'metrics' | 'nodes';
  /** Milliseconds between two polls of a target. */
  readonly every: number;
  /** Budget units of one call (upstream/reality.md 3b). */
  readonly weight: number;
  /** Calls that one poll of a target makes; more only where a window has more pages. */
  readonly calls: number;
  /** Its walk uses {@link Ask.pageSize}. */
  readonly paged?: true;
  /** Absent: an observation of how things are now, which nobody can repeat later. */
  readonly range?: Range;
  /** The answer never changes: once a target is recorded it is not asked for again. */
  readonly once?: boolean;
  /**
   * Makes a target of the KEY=VALUE pairs of `record DATASET --target`, for things that are asked for on demand only.
   * @throws UsageError when the pairs break a rule of the seed
   */
  demand?(pairs: Readonly<Record<string, string>>, scope: Scope): Target;
  /**
   * The target that also holds the rows that `target` is about, such as the list that a single item belongs to. Both
   * share one lease, so that one run at a time writes these rows. Absent: every target has rows of its own.
   */
  rowsOf?(target: Target): Target;
  targets(scope: Scope): Target[];
  /** Asks page by page. @throws UpstreamFailure when a call fails for good */
  walk(ask: Ask, target: Target, window: RequestedWindow | null): AsyncIterable<Page>;
}

/** What is declared of everything that is recorded, whoever writes its rows: enough to list, configure and plan it. */
export interface Recorded {
  readonly name: string;
  /** One sentence: what a row is. The COMMENT of its view. */
  readonly about: string;
  /** The sections of the seeds that describe it. */
  readonly seed: string;
  /** The operations of the services that it records. */
  readonly operations: readonly string[];
  /** Its kind of history, in the word that the data dictionary explains. */
  readonly history: string;
  readonly source: Source;
  /** The target's keys that become the first columns. */
  readonly request: readonly string[];
  /** The natural key, as columns. */
  readonly key: readonly string[];
  readonly columns: readonly DatasetColumn[];
}

/** A dataset that runs record: what is kept of a source's answers, and how. The catalog lists them. */
export interface Dataset extends Recorded {
  readonly history: History;
  readonly item: z.ZodObject;
  /** Column names that do not follow from the upstream's, by upstream field. */
  readonly rename: Readonly<Record<string, string>>;
  /** Fields that are kept elsewhere and belong neither in a column nor in `extra`. */
  readonly ignore?: readonly string[];
  /** False: fields that are not named belong to another dataset of the same source, not into `extra`. */
  readonly extra?: boolean;
  /** Columns that identify one thing: rows with equal values in these but with different keys are in conflict. */
  readonly single?: readonly string[];
  /** Its rows are entries of a chain: what does not continue the recorded chain is refused. */
  readonly chain?: ChainLinks;
  /** Columns of lists that few rows fill: an index finds those, so that their elements are found without reading all rows. */
  readonly seldom?: readonly string[];
  /**
   * Of a `state` with many members that change often: an index finds what it held at a moment. Without it all versions that began
   * before are read. It costs some 40 bytes a version.
   */
  readonly byMoment?: boolean;
  /**
   * Of a `series` with very many small rows: its table holds a number in place of the request's columns, and what it stands for is
   * held once (`standing.ts`). All columns of the request are in the key.
   */
  readonly numbered?: true;
  /** Of a `state`: the column with the end that a member states of itself. Once it has passed, a missing member is gone. */
  readonly endsAt?: string;
  /** Every node tells of the same things: `network_D` shows what most of them say, and who says otherwise. */
  readonly everyNode?: EveryNode;
  /** The items of a page. @throws Error when the answer has another shape than the seed says */
  items(body: unknown, target: Target): readonly unknown[];
  /** Required of a `series`: the interval of its points. A point that starts no bucket of it goes to the quarantine. */
  interval?(target: Target): PointInterval;
  /**
   * The fields of an item that state what was requested, by key of the target. An item that states something else goes to the
   * quarantine; an answer whose items all do is refused.
   */
  readonly states?: StatedRequest;
  /** The fields of an answer that do. */
  readonly answerStates?: StatedRequest;
  /** An item as the seed's field tables show it. */
  readonly example: Readonly<Record<string, unknown>>;
  readonly table: PgTable;
  /** The table with what numbers stand for; null: it is not `numbered`. */
  readonly seriesTable: PgTable | null;
}

/** The columns by which the entries of a chain link to each other. */
export interface ChainLinks {
  readonly height: string;
  readonly id: string;
  /** The id of the entry one height below. */
  readonly parent: string;
  /** Requests the entry at a height. Absent: the upstream serves no single entries. @throws UpstreamFailure when the call fails */
  entryAt?(ask: Ask, target: Target, height: number): Promise<unknown>;
}

/** What of a dataset may be compared between nodes. Its request and its key have `node`; a sample's key is its request. */
export interface EveryNode {
  /** Columns that are each node's own, or move between two looks: nodes need not say the same there. */
  readonly own: readonly string[];
  /** The column that says what moment a reading is about: readings contradict each other only where it is the same. */
  readonly at?: string;
}

/** A source with the datasets that are recorded from its answers, together in one run. */
export interface Feed {
  readonly source: Source;
  readonly datasets: readonly Dataset[];
}

/** A column of a dataset that comes from the upstream. */
export interface DatasetColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** Where it is in an item: the field names from the outermost inwards; empty for a request column. */
  readonly path: readonly string[];
  /** Which of two columns it is, where a field becomes two. */
  readonly part?: 'value' | 'raw';
  readonly comment: string;
  /** Which numbers a `numeric` column is for. */
  readonly digits?: Digits;
  /** The shape of a list's elements. */
  readonly element?: z.ZodType;
  /** Its value changes although the thing does not (`moves()` in fields.ts): such a change alone is no conflict of a log. */
  readonly moves?: true;
  /** The fields of a list's elements that change so. */
  readonly elementMoves?: readonly ElementFields[];
}

/** Fields of an object inside an element: the path from the element to the object, and the fields there. */
export interface ElementFields {
  readonly path: readonly string[];
  readonly fields: readonly string[];
}
