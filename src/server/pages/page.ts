import type postgres from 'postgres';
import type { ComponentChildren } from 'preact';
import type { z } from 'zod';
import type { QueuesView } from '../../jobs/queue-look.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Demand } from '../../reporting/reports/call-demand.ts';
import type { DiskUse } from '../../reporting/reports/disk.ts';
import type { NodesStatus } from '../../reporting/reports/nodes/nodes-status.ts';
import type { Status } from '../../reporting/reports/status.ts';
import type { Ask } from '../run-query.ts';
import type { StatusSite } from '../status-site.ts';

/** What the configuration says of this recorder. */
export interface RecorderFacts {
  readonly name: string;
  readonly network: string;
  /** It records the bundled, simulated network. */
  readonly simulated: boolean;
  /** The folder of the database, where it is the embedded one; null: it is a server of the user's own. */
  readonly directory: string | null;
}

/** What pages read from. */
export interface PageContext {
  /**
   * Runs the statements of this page, one after the other, on a connection that nobody else uses meanwhile.
   * @throws ReadsBusy when too many read; what `work` throws
   */
  read<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>;
  /** Asks a statement that a user wrote, within limits of its own. @throws ReadsBusy; what `refusalOf` reads */
  readonly ask: Ask;
  readonly clock: Clock;
  /** How the recording stands, read once a second at most. */
  readonly status: () => Promise<Status>;
  /** What the schedules ask of each metered upstream, worked out once a minute at most. */
  readonly demands: () => Promise<readonly Demand[]>;
  /** The space that the record takes, read once a minute at most. */
  readonly disk: () => Promise<DiskUse>;
  /** What is in the queues, looked at once a second at most. Rejects with QueueAway when they give no answer. */
  readonly queues: QueuesView;
  readonly recorder: RecorderFacts;
  /** How the nodes stand, read once in a few seconds at most. */
  readonly nodes: () => Promise<NodesStatus>;
  /** What the status page shows of its own. */
  readonly site: StatusSite;
}

/** What is in a page. */
export interface Content {
  readonly title: string;
  /** The way to it, from the outside in; absent: it is a place of the navigation. */
  readonly crumbs?: readonly { readonly href: string; readonly label: string }[];
  /** Modules of `web/` that it uses, without the ending. The page has to be usable without them. */
  readonly islands?: readonly string[];
  /** It renews itself so often, in seconds; absent: it does not. */
  readonly live?: number;
  /** It stands in place of a page: once that is there, all of it is loaded. */
  readonly instead?: boolean;
  /** It is for the public: it has this head in place of the recorder's own. */
  readonly site?: StatusSite;
  readonly body: ComponentChildren;
}

/** Another address of this server, at which what was asked for is found. */
export interface Redirect {
  readonly location: string;
}

/** A page as it is declared. */
interface Declaration<Asked extends z.ZodObject, Data> {
  /** The path with its parameters, such as `/runs/:run`. */
  readonly path: string;
  /** The parameters of the path and of the query, as a strict object: others are refused. */
  readonly asked: Asked;
  /** Reads what it shows; null: there is no such thing. */
  read(context: PageContext, asked: z.output<Asked>): Promise<Data | null>;
  /** What it looks like: follows from the data and the parameters alone. */
  content(data: Data, asked: z.output<Asked>): Content;
}

/** A page as the server takes it. */
export interface Page {
  readonly path: string;
  /**
   * @param asked the parameters as they came
   * @returns null: there is no such thing
   * @throws BadRequest, AskedWrongly when a parameter is not what it may be
   */
  answer(context: PageContext, asked: Readonly<Record<string, unknown>>): Promise<Content | Redirect | null>;
}

/** A request that cannot be answered because of what it asks. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly problems: readonly string[];

  /** @param problems one line each, beginning with the parameter */
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Declares a page. */
export function definePage<Asked extends z.ZodObject, Data>(declared: Declaration<Asked, Data>): Page {
  return {
    path: declared.path,
    async answer(context, given) {
      const asked = declared.asked.safeParse(given);
      if (!asked.success)
        throw new BadRequest(
          asked.error.issues.map((issue) => problemOf(issue, given, Object.keys(declared.asked.shape))),
        );
      const data = await declared.read(context, asked.data);
      return data === null ? null : declared.content(data, asked.data);
    },
  };
}

function problemOf(
  issue: z.core.$ZodIssue,
  given: Readonly<Record<string, unknown>>,
  known: readonly string[],
): string {
  if (issue.code === 'unrecognized_keys')
    return `${issue.keys.join(', ')}: ${known.length > 0 ? `this page takes ${known.join(', ')}` : 'this page takes no parameters'}`;
  const name = issue.path.join('.');
  // A list that a page takes has a problem of its items, not of itself.
  const isRepeated = Array.isArray(given[name]) && issue.code.startsWith('invalid_');
  return `${name}: ${isRepeated ? 'is given more than once' : issue.message}`;
}
