import type { SourcePage, Window } from '../datasets/contract.ts';
import { toErrorMessage } from '../lib/errors.ts';
import { UpstreamFailure } from '../upstreams/failure.ts';
import type { ActiveFeed } from './active-feed.ts';
import type { ClaimableRange } from './claimable-range.ts';
import type { DecodedPage, Decoder, RejectedItem } from './decode.ts';
import type { EncodedRow } from './histories/rows.ts';
import { type Link, linkReader } from './identity/chain-continuity.ts';
import type { Job } from './job.ts';
import { emptyBuffer, type PageBuffer } from './page-buffer.ts';
import { toQuarantinedItem } from './quarantined-item.ts';
import { WalkEvidence } from './walk-evidence.ts';

/**
 * Decodes the pages of a walk. Keeps their rows until the next commit, and their evidence until the end of
 * the walk.
 */
export class PageReader {
  readonly #feed: ActiveFeed;
  readonly #job: Job;
  readonly #decoders: readonly Decoder[];
  readonly #links: readonly (((row: EncodedRow) => Link) | null)[];
  readonly #claimable: ClaimableRange;
  #buffer: PageBuffer;
  readonly evidence: WalkEvidence;
  readonly totals = { pages: 0, items: 0, quarantined: 0 };
  /** Window that the pages of the walk together prove to be complete. Null: none. */
  proven: Window | null = null;
  /** Reason for missing parts of the responses. Null: none. */
  note: string | null = null;

  constructor(feed: ActiveFeed, job: Job, decoders: readonly Decoder[], claimable: ClaimableRange) {
    this.#feed = feed;
    this.#job = job;
    this.#decoders = decoders;
    this.#links = feed.datasets.map(linkReader);
    this.#claimable = claimable;
    this.#buffer = emptyBuffer(feed);
    this.evidence = new WalkEvidence(feed);
  }

  /** Number of rows that are in no commit yet. */
  get rowCount(): number {
    return this.#buffer.rowCount;
  }

  /** Returns everything since the last commit, and starts an empty buffer. */
  takeBuffer(): PageBuffer {
    const buffer = this.#buffer;
    this.#buffer = emptyBuffer(this.#feed, buffer);
    return buffer;
  }

  /**
   * Adds a page.
   * @param now time of the observation, in ms since 1970
   * @throws UpstreamFailure (malformed) if the response does not have the expected list. Such a page adds no
   * rows and proves nothing.
   */
  add(page: SourcePage, now: number): void {
    const buffer = this.#buffer;
    if (page.startsList) for (const seenRows of buffer.seenRows) seenRows.startList();
    const answers = this.#decoders.map((_, at) => this.#decode(buffer, at, page.body, now));
    this.#addEvidence(buffer, page);
    answers.forEach((answer, at) => {
      this.#addItems(buffer, at, answer);
    });
  }

  /** Adds an item to the quarantine of a commit. A stored row with the key of the item is not changed. */
  quarantine(buffer: PageBuffer, at: number, rejected: RejectedItem): void {
    const dataset = this.#feed.datasets[at];
    if (!dataset) return;
    buffer.quarantined.push(toQuarantinedItem(dataset, rejected));
    this.totals.quarantined += 1;
    this.evidence.addQuarantined(at, rejected.key);
    if (rejected.key) buffer.quarantinedKeys[at]?.push(rejected.key);
  }

  #decode(buffer: PageBuffer, at: number, body: unknown, now: number): DecodedPage {
    const [dataset, decoder] = [this.#feed.datasets[at], this.#decoders[at]];
    if (!dataset || !decoder) throw new RangeError(`the feed has no dataset with the index ${at}`);
    const { target } = this.#job;
    try {
      const items = dataset.items(body, target);
      if (at === 0) this.#claimable.addItems(items, now);
      return decoder.items(items, { target, now }, buffer.seenRows[at]);
    } catch (error) {
      throw new UpstreamFailure('malformed', `${dataset.name}: ${toErrorMessage(error)}`);
    }
  }

  #addEvidence(buffer: PageBuffer, page: SourcePage): void {
    this.totals.pages += 1;
    this.evidence.addPage(page);
    this.#claimable.addPage(page);
    this.note = page.note ?? this.note;
    this.proven = page.proven ?? this.proven;
    buffer.pages += 1;
    buffer.proven = page.proven ?? buffer.proven;
    buffer.head = page.head ?? buffer.head;
  }

  #addItems(buffer: PageBuffer, at: number, answer: DecodedPage): void {
    const { items, rows, refused } = answer;
    this.evidence.addItems(at, answer);
    this.totals.items += items;
    for (const row of rows) buffer.rows[at]?.push(row);
    const linkOf = this.#links[at];
    if (linkOf) for (const { row } of rows) buffer.links[at]?.push(linkOf(row));
    for (const one of refused) this.quarantine(buffer, at, one);
    buffer.items[at] = (buffer.items[at] ?? 0) + items;
    buffer.rowCount += rows.length;
  }
}
