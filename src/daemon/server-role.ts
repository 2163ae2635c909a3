import type { App } from '../app/app.ts';
import { ReadGate } from '../db/read-gate.ts';
import { createQueuesView } from '../jobs/queue-content.ts';
import type { Queues } from '../jobs/workers.ts';
import { UsageError } from '../lib/errors.ts';
import type { ProcessRegistration } from '../recording/process-registration.ts';
import { Access } from '../server/access.ts';
import { explainListenError } from '../server/listen-error.ts';
import { buildServer } from '../server/server.ts';
import { readStatusSite, type StatusSite } from '../server/status-site.ts';
import type { Role } from './roles.ts';
import { checkReferencedSecrets } from './secret-problems.ts';

/** Settings of the server, validated before anything else starts. */
export interface ServerSettings {
  readonly access: Access;
  readonly site: StatusSite;
}

/**
 * Validates a configuration before any part of `up` starts with the configuration or stops because of it.
 * @returns the settings of the server; null if this process has no server
 * @throws UsageError if a secret of a channel or sink is missing, the server would be readable by the whole
 * network, or its logo is invalid
 */
export function validateConfiguration(app: App, roles: ReadonlySet<Role>): ServerSettings | null {
  const problems = roles.has('worker') ? checkReferencedSecrets(app.config) : [];
  if (problems.length > 0) throw new UsageError(problems);
  return roles.has('server') ? { access: accessOf(app), site: readStatusSite(app.config) } : null;
}

/**
 * Returns the access rules of the server.
 * @throws UsageError if the whole network could read the pages
 */
function accessOf({ config, environment: { host, token } }: App): Access {
  return new Access({
    host,
    token,
    trustedProxies: config.server.trustedProxies,
    public: config.server.public,
  });
}

/** Minimum interval between two reports of the connection limit, in ms. */
const LIMIT_REPORT_INTERVAL_MS = 60_000;

/**
 * Maximum number of connections that wait to be accepted. With Node.js's default of 511, the kernel drops
 * further connections during a burst, and the clients retry after seconds.
 */
const BACKLOG = 4_096;

/** Returns a function that does the work on its first call, and again only after the interval (in ms). */
function throttle(interval: number, work: () => void): () => void {
  let last = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - last < interval) return;
    last = performance.now();
    work();
  };
}

/**
 * Starts the server.
 * @throws UsageError if the port is taken, or the host is not an address of this machine
 */
export async function startHttpServer(
  app: App,
  { access, site }: ServerSettings,
  queues: Queues,
  roles: ReadonlySet<Role>,
  registration: ProcessRegistration,
) {
  const {
    config,
    database,
    databaseUrl,
    replica,
    environment: { host, port },
    clock,
    log,
    budgets,
  } = app;
  const gate = new ReadGate(databaseUrl, { yields: app.embedded }, replica);
  const server = buildServer({
    sql: database.reader,
    gate,
    replica,
    clock,
    access,
    log,
    queueReachable: () => queues.polls.getJobCounts(),
    queues: createQueuesView(queues),
    allowedHosts: [host, ...config.server.allowedHosts, ...publicHost(config.server.publicUrl)],
    budgets,
    recorder: {
      name: config.name,
      network: config.network,
      simulated: app.sandbox !== null,
      directory: app.embeddedDirectory,
    },
    watched: app.watched,
    upstreams: config.upstreams,
    counts: app.counts,
    rewards: config.health.rewards,
    site,
    recording: roles.has('worker') ? () => app.counts.recording : null,
    connectionLimitReached: throttle(LIMIT_REPORT_INTERVAL_MS, () => {
      log.warn('the server reached its maximum of connections');
      // An unavailable database is reported elsewhere.
      registration.noteConnectionsFull().catch(() => {});
    }),
  });
  server.addHook('onClose', () => gate.close());
  try {
    log.info({ address: await server.listen({ host, port, backlog: BACKLOG }) }, 'the server listened');
    return server;
  } catch (error) {
    const fault = explainListenError(error, host, port);
    throw fault ? new UsageError([`${fault.setting}: ${fault.cause}: ${fault.fix}`]) : error;
  }
}

const publicHost = (url: string | undefined) => (url === undefined ? [] : [new URL(url).hostname]);
