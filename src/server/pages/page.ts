import type postgres from 'postgres';
import type { ComponentChildren } from 'preact';
import type { z } from 'zod';
import type { QueuesView } from '../../jobs/queue-content.ts';
import type { Clock } from '../../lib/clock.ts';
import { validateParameters } from '../../reporting/relations/invalid-request.ts';
import type { Demand } from '../../reporting/reports/call-demand.ts';
import type { DiskUse } from '../../reporting/reports/disk.ts';
import type { MyValidator } from '../../reporting/reports/my-validators.ts';
import type { NodesStatus } from '../../reporting/reports/nodes/nodes-status.ts';
import type { Status } from '../../reporting/reports/status.ts';
import type { RunQuery } from '../run-query.ts';
import type { StatusSite } from '../status-site.ts';

/** Facts about this recorder from its configuration. */
export interface RecorderFacts {
  readonly name: string;
  readonly network: string;
  /** True if the recorder records the bundled, simulated network. */
  readonly simulated: boolean;
  /** The folder of the embedded database; null for an external database server. */
  readonly directory: string | null;
}

/** Data sources of pages. */
export interface PageContext {
  /**
   * Runs the statements of this page, one after the other, on a connection that no other request uses at the
   * same time.
   * @throws TooManyReadsError if there are too many reads, and the errors of `work`
   */
  read<T>(work: (sql: postgres.Sql) => Promise<T>): Promise<T>;
  /**
   * Runs a statement that a user wrote, with separate limits.
   * @throws TooManyReadsError, and errors that `explainRefusal` converts to messages
   */
  readonly runQuery: RunQuery;
  readonly clock: Clock;
  /** State of the recording, cached for 1 s. */
  readonly status: () => Promise<Status>;
  /** Demand of the schedules for each metered upstream, cached for 1 min. */
  readonly demands: () => Promise<readonly Demand[]>;
  /** Disk usage of the record, cached for 1 min. */
  readonly disk: () => Promise<DiskUse>;
  /** State of the queues, cached for 1 s. Rejects with QueueUnavailableError if the queues do not respond. */
  readonly queues: QueuesView;
  readonly recorder: RecorderFacts;
  /** State of the nodes, cached for some seconds. */
  readonly nodes: () => Promise<NodesStatus>;
  /** The validators of the user, cached for some seconds. */
  readonly validators: () => Promise<readonly MyValidator[]>;
  /** Configuration of the status page. */
  readonly site: StatusSite;
}

export interface Content {
  readonly title: string;
  /** Breadcrumbs, starting with the main page. Default: no breadcrumbs, for a main page. */
  readonly crumbs?: readonly { readonly href: string; readonly label: string }[];
  /** Modules of `web/` that the page uses, without the extension. The page must be usable without them. */
  readonly islands?: readonly string[];
  /** Refresh interval, in s. Default: no refresh. */
  readonly live?: number;
  /**
   * True if this content is an error message instead of the page. The browser then reloads the document when
   * the page is available.
   */
  readonly instead?: boolean;
  /** Configuration for the head of a public page. Default: the head of the recorder. */
  readonly site?: StatusSite;
  readonly body: ComponentChildren;
}

/** A redirect to another URL of this server. */
export interface Redirect {
  readonly location: string;
}

interface Declaration<Params extends z.ZodObject, Data> {
  /** The path with its parameters, such as `/runs/:run`. */
  readonly path: string;
  /**
   * The parameters of the path and of the query, as a strict object, so that unknown parameters are refused.
   */
  readonly params: Params;
  /** Reads the data of the page. Returns null if there is nothing at this path. */
  read(context: PageContext, params: z.output<Params>): Promise<Data | null>;
  /** Renders the page, from the data and the parameters alone. */
  content(data: Data, params: z.output<Params>): Content;
}

/** Path of a page, and the function that responds to its requests. */
export interface PageDefinition {
  readonly path: string;
  /**
   * Returns the content of the page, or a redirect.
   * @param params unvalidated parameters
   * @returns null if there is nothing at this path
   * @throws InvalidRequestError if a parameter is invalid
   */
  answer(context: PageContext, params: Readonly<Record<string, unknown>>): Promise<Content | Redirect | null>;
}

export function definePage<Params extends z.ZodObject, Data>(
  declared: Declaration<Params, Data>,
): PageDefinition {
  return {
    path: declared.path,
    async answer(context, rawParams) {
      const params = validateParameters(declared.params, rawParams);
      const data = await declared.read(context, params);
      return data === null ? null : declared.content(data, params);
    },
  };
}
