import type { PgTable } from 'drizzle-orm/pg-core';
import type { z } from 'zod';
import type { Digits } from './fields.ts';
import type { PointInterval } from './point-grid.ts';
import type { StatedRequest } from './stated-request.ts';

/**
 * Kind of history of recorded rows. `series`: points whose values are revised. `log`: entities that should
 * not change. `state`: lists whose members appear, change and leave. `sample`: readings.
 */
export type History = 'series' | 'log' | 'state' | 'sample';

/** Subject of a request, such as `{ chainId: '43114', metric: 'txCount', timeInterval: 'day' }`. */
export type Target = Readonly<Record<string, string>>;

/**
 * A range with inclusive start and exclusive end: ms since 1970 on the axis `time`, block numbers on the axis
 * `height`.
 */
export interface Window {
  readonly from: number;
  readonly to: number;
}

/** One response of an upstream (or several that belong together), with its evidence. */
export interface SourcePage {
  readonly body: unknown;
  /**
   * Part of the window that this page and the previous ones contain completely. Null: nothing is proven yet.
   */
  readonly proven: Window | null;
  /**
   * True if this page ends the walk, because this page and the previous ones contain the whole window or
   * list.
   */
  readonly last: boolean;
  /**
   * Only for an index on the axis of heights: the exclusive end of the claimable part of `proven`. Undefined:
   * unchanged.
   */
  readonly claimable?: number;
  /** False if unseen rows may exist, after a restart or an inconsistency. Such a run is `partial`. */
  readonly whole: boolean;
  /** Only for a source whose dataset is a chain: the height of the newest entry of the upstream. */
  readonly head?: number;
  /**
   * True if the page is the first one of a list, or of the walk. Undefined: the page continues the list of
   * the previous page. The list may have changed between the two responses.
   */
  readonly startsList?: true;
  /**
   * Contradiction inside the list, such as a total that differs from the number of its items. The run is
   * `partial` with this reason.
   */
  readonly contradiction?: string;
  /**
   * Reason for missing parts of the response, such as a method that the node does not offer. Stored once per
   * run.
   */
  readonly note?: string;
}

/**
 * Client of a source for its upstream. The calls of the client are counted, throttled by the budget, and
 * retried.
 */
export interface UpstreamClient {
  /**
   * Sends a GET to a path below the URL of the upstream and returns the parsed body of a 2xx response.
   * @throws UpstreamFailure if there is no such response
   */
  get(path: string, query?: Readonly<Record<string, string | number | undefined>>): Promise<unknown>;
  /**
   * Sends a POST with a JSON body; otherwise like {@link UpstreamClient.get}.
   * @throws UpstreamFailure if there is no 2xx response
   */
  post(path: string, body: Readonly<Record<string, unknown>>): Promise<unknown>;
  /**
   * Makes a JSON-RPC call and returns its `result`.
   * @throws UpstreamFailure if there is no result
   */
  rpc(path: string, method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /**
   * Requests a health report once, without retries.
   * @throws UpstreamFailure if the response is no health report
   */
  probe(
    path: string,
    call?: {
      readonly query?: Readonly<Record<string, string>>;
      /** JSON-RPC method. Default: a GET. */
      readonly method?: string;
      readonly params?: Readonly<Record<string, unknown>> | undefined;
    },
  ): Promise<unknown>;
  /** Returns the number of items to request per page: the maximum, unless a lower number is configured. */
  pageSize(most: number): number;
  /** Arrival time of the current response, in ms since 1970. */
  readonly now: number;
}

/** Configuration from which sources derive their targets. */
export interface Scope {
  readonly network: string;
  readonly observer: string;
  /** Number of shares that the nodes of the observer are divided into. 1: undivided. */
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
  /** Health tags by node. Each tag is a separate probe. */
  readonly tags: Readonly<Record<string, readonly string[]>>;
  /** Configured options of the datasets of this source. */
  readonly options: { readonly metrics?: readonly string[]; readonly intervals?: readonly string[] };
}

interface ChainAddress {
  readonly chain: string;
  readonly address: string;
}

/**
 * The end of a window of heights without a fixed end. The newest height of a chain is known only after a
 * request.
 */
export const OPEN_END = Number.MAX_SAFE_INTEGER;

/** A window that a run requests. */
export interface RequestedWindow extends Window {
  /**
   * Lower bound of the requested pages, at or below `from`. The last page is requested full, because a full
   * page costs as much as a partial one. Default: `from`.
   */
  readonly reach?: number;
}

/**
 * An index of a chain that a service builds. The index may lag behind the chain, and may return an older item
 * only after newer ones.
 */
export interface Index {
  /**
   * Returns the name of the index that contains a target. Progress that is measured with one target applies
   * to all targets of the same index.
   */
  readonly name: (target: Target) => string;
  /** Returns the time of an item, in ms since 1970. Returns null if the time cannot be read. */
  readonly timeOf: (item: unknown) => number | null;
  /**
   * Returns the period that an item describes, from its time on, in ms. Undefined: an item describes a
   * moment.
   */
  readonly spanOf?: (target: Target) => number;
  /** Maximum number of items of one page. */
  readonly page: number;
}

/**
 * Properties of a source whose requests contain a range of time or heights, so that missed data can be
 * requested later.
 */
export interface Range {
  readonly axis: 'time' | 'height';
  /** Returns the length of one window, whose items fill one or a few pages. Infinity: a single window. */
  readonly span: (target: Target) => number;
  /**
   * Returns the length of the newest part of the range, which every poll requests again because it may still
   * change.
   */
  readonly head: (target: Target) => number;
  /**
   * Minimum age of items that are certain to be complete, in ms. Newer parts of the range are not claimed as
   * covered.
   */
  readonly settle: number;
  /**
   * Index that the items come from. Each poll requests its newest full page. Answered windows are requested
   * again (`recording/sweep-windows.ts`). Nothing is claimed beyond the progress of the index. Undefined:
   * there is no index.
   */
  readonly index?: Index;
  /**
   * Start of the first recording: the number of ms before now, or a moment before which there was no data. On
   * the axis of heights, Infinity starts the recording at the first block, and 0 at the height of the chain
   * at the start of the first run.
   */
  readonly lookback: number | Date;
  /**
   * Maximum length of the part of a window that one run requests, if the number of calls depends on the
   * length. Undefined: a run requests the whole window.
   */
  readonly perRun?: number;
}

/** Requests of a group of datasets. Datasets with the same source share its calls. */
export interface Source {
  readonly name: string;
  readonly upstream: 'chainData' | 'metrics' | 'nodes';
  /** Interval between two polls of a target, in ms. */
  readonly every: number;
  /** Budget units of one call (upstream-services.md#rate-limits). */
  readonly weight: number;
  /** Number of calls of one poll of a target, without additional pages. */
  readonly calls: number;
  /** True if the walk uses {@link UpstreamClient.pageSize}. */
  readonly paged?: true;
  /** Undefined: an observation of the current state, which cannot be repeated later. */
  readonly range?: Range;
  /** True if the response never changes, so that a recorded target is not requested again. */
  readonly once?: boolean;
  /**
   * Creates a target from the KEY=VALUE pairs of `record DATASET --target`, for entities that are only
   * requested on demand.
   * @throws UsageError if the pairs violate a rule of the service
   */
  demand?(pairs: Readonly<Record<string, string>>, scope: Scope): Target;
  /**
   * Returns the target whose rows contain those of `target`, such as the list of a single item. Both share
   * one lease, so that only one run at a time writes these rows. Undefined: the rows of targets are disjoint.
   */
  rowsOf?(target: Target): Target;
  targets(scope: Scope): Target[];
  /**
   * Requests page by page.
   * @throws UpstreamFailure if a call fails permanently
   */
  walk(client: UpstreamClient, target: Target, window: RequestedWindow | null): AsyncIterable<SourcePage>;
}

/**
 * Declaration of recorded data, independent of the writer of the data. The declaration is sufficient to list,
 * configure and plan the data.
 */
export interface Recorded {
  readonly name: string;
  /**
   * Name of the view in `reporting` with the rows of the dataset, and prefix of the other views of the
   * dataset. The name is that of the dataset, or `node_D` if every node reports the same entities ({@link
   * Dataset.everyNode}).
   */
  readonly relation: string;
  /** One sentence that describes a row. The sentence becomes the COMMENT of the view. */
  readonly about: string;
  /** API operations whose responses the dataset records. */
  readonly operations: readonly string[];
  /** Kind of history, as named in the data dictionary. */
  readonly history: string;
  readonly source: Source;
  /** Keys of the target that become the first columns. */
  readonly request: readonly string[];
  /** Columns of the natural key. */
  readonly key: readonly string[];
  readonly columns: readonly DatasetColumn[];
}

/** A dataset that runs record: a selection of the responses of a source. The catalog lists all datasets. */
export interface Dataset extends Recorded {
  readonly history: History;
  readonly item: z.ZodObject;
  /** Column names that are not derived from the upstream field, by upstream field. */
  readonly rename: Readonly<Record<string, string>>;
  /** Fields that are recorded elsewhere and belong neither in a column nor in `extra`. */
  readonly ignore?: readonly string[];
  /** False: unknown fields belong to another dataset of the same source, not in `extra`. */
  readonly extra?: boolean;
  /**
   * Columns that identify one entity. Rows with equal values in these columns but different keys are in
   * conflict.
   */
  readonly single?: readonly string[];
  /** Set if the rows are entries of a chain. Entries that do not continue the recorded chain are rejected. */
  readonly chain?: ChainLinks;
  /** Columns with lists that are empty in most rows. A partial index finds the other rows without a scan. */
  readonly seldom?: readonly string[];
  /**
   * True if an index finds the versions at a moment. Only for a `state` with many members that change often.
   * Without this index, all versions that started before the moment are read. The index needs some 40 bytes
   * per version.
   */
  readonly byMoment?: boolean;
  /**
   * True if the table has the number of a series instead of the columns of the request, whose values are
   * stored once (`target-columns.ts`). Only for a `series` with very many small rows. All columns of the
   * request must be in the key.
   */
  readonly numbered?: true;
  /**
   * Column with the time at which a member ends, as the upstream reports it. A member that is missing after
   * this time counts as removed. Only for a `state`.
   */
  readonly endsAt?: string;
  /**
   * Set if every node reports the same entities. The view `node_D` has the rows of each node; `D` has the
   * value of the majority and the nodes that differ.
   */
  readonly everyNode?: EveryNode;
  /**
   * Returns the items of a page.
   * @throws Error if the response does not have the documented structure
   */
  items(body: unknown, target: Target): readonly unknown[];
  /**
   * Returns the interval of the points. Required for a `series`. A point that is not the start of a bucket
   * goes to the quarantine.
   */
  interval?(target: Target): PointInterval;
  /**
   * Fields of an item that repeat the request, by key of the target. An item with another value goes to the
   * quarantine. A response without any matching item is rejected.
   */
  readonly states?: StatedRequest;
  /** Fields of a response that repeat the request. */
  readonly answerStates?: StatedRequest;
  /** An item with all documented fields. */
  readonly example: Readonly<Record<string, unknown>>;
  readonly table: PgTable;
  /** Table with the values of the request by number. Null: the dataset is not `numbered`. */
  readonly seriesTable: PgTable | null;
}

/** Columns that link the entries of a chain. */
export interface ChainLinks {
  readonly height: string;
  readonly id: string;
  /** Id of the entry one height below. */
  readonly parent: string;
  /**
   * Requests the entry at a height. Undefined: the upstream cannot return single entries.
   * @throws UpstreamFailure if the call fails
   */
  entryAt?(client: UpstreamClient, target: Target, height: number): Promise<unknown>;
}

/**
 * Comparison of a dataset between nodes. The request and the key of the dataset contain `node`. The key of a
 * sample is the request of the sample.
 */
export interface EveryNode {
  /**
   * Columns that are specific to each node, or that change between two observations. These columns are not
   * compared.
   */
  readonly own: readonly string[];
  /** Column with the moment that a reading describes. Only readings with the same value are compared. */
  readonly at?: string;
}

/** A source with the datasets that one run records from its responses. */
export interface Feed {
  readonly source: Source;
  readonly datasets: readonly Dataset[];
}

/** A column of a dataset that comes from the upstream. */
export interface DatasetColumn {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  /** Path of the field in an item, outermost first. Empty for a request column. */
  readonly path: readonly string[];
  /** Role of the column if the field has two columns: the parsed value, or the number as received. */
  readonly part?: 'value' | 'raw';
  readonly comment: string;
  /** Range of a `numeric` column. */
  readonly digits?: Digits;
  /** Schema of the elements of a list. */
  readonly element?: z.ZodType;
  /**
   * True if the value may change although the entity does not (`moves()` in fields.ts). Such a change alone
   * is no conflict of a log.
   */
  readonly moves?: true;
  /**
   * Fields of the elements of a list that may change although the entity does not (`moves()` in fields.ts).
   */
  readonly elementMoves?: readonly ElementFields[];
}

/** Fields of an object inside an element, with the path from the element to the object. */
export interface ElementFields {
  readonly path: readonly string[];
  readonly fields: readonly string[];
}
