import { metricParts, scrapeFamilies } from '../../src/server/metrics/metrics.ts';
import type { Family } from '../../src/server/metrics/samples.ts';
import { markdownTable } from './markdown-table.ts';

const text = `# Monitoring

Generated from the code by \`npm run docs\`.

\`/metrics\` returns metrics in the text format of Prometheus:

\`\`\`yaml
scrape_configs:
  - job_name: chain-recorder
    static_configs: [{ targets: ["127.0.0.1:8080"] }]
    authorization: { credentials_file: /etc/prometheus/recorder-token } # where RECORDER_TOKEN is set
\`\`\`

Ready to use: [recording rules and alert rules](../../examples/prometheus), tested by \`promtool\`, and
[dashboards for Grafana](../../examples/grafana), one over Prometheus and one over PostgreSQL.

- **What is read from PostgreSQL is the same from every process**, so that scraping one process is enough. With several, aggregate
  by \`max by (…)\`, not by \`sum\`. The counts of a single process are under [process](#process).
- **The cost of a scrape depends on the number of targets, nodes and checks**, not on the size of the record. The database is queried
  at most once a second.
- **A failing collector does not affect the others**: its metrics have no sample, \`chain_recorder_scrape_collector_success{collector="…"}\` is 0,
  and the log has the reason. Without the database there are still the counts of the process and \`chain_recorder_database_reachable 0\`.
- **Labels are names from the configuration**, and names of datasets, states and checks. Of checks, which the node names, at most
  100 a probe have a series each.
- \`node_up\` has no prefix, as in other exporters. All others start with \`chain_recorder_\`; \`process_\` and
  \`nodejs_\` are prom-client's own, of this process, counted from the first scrape on (\`promtool check metrics\` objects to the endings of three of them).
`;

const openTelemetry = `## Traces and logs by OpenTelemetry

Metrics are served at \`/metrics\` only. Traces and logs are sent by OTLP over HTTP if an endpoint is set; otherwise OpenTelemetry is
not loaded.

\`\`\`sh
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 chain-recorder up
\`\`\`

- **A poll is one trace from the tick to the commit**: \`process polls\` (the tick of the schedule), \`plan\`, \`addBulk polls\`, \`process polls\` (the
  job, in whichever process), \`run\`, and within it \`claim\`, each call of the upstream (\`GET\`, \`POST\`) and each \`commit\`. A run that heals, sweeps or
  backfills has a trace of its own, because one job may heal thousands of gaps. The plan at the start of \`up\` starts at \`add polls.plan\`.
- **Attributes** start with \`recorder.\` (\`feed\`, \`target\`, \`reason\`, \`run.id\`, \`run.status\`, \`pages\`, \`rows\`, \`upstream\`) or are OpenTelemetry's own for HTTP, databases
  and queues. \`recorder.run.id\` is \`run_id\` in \`reporting.runs\`. URLs have the host and the path below the configured one, never a query or a header.
- **Log records** are the lines on stderr, with the same minimum level (\`LOG_LEVEL\`), and have the trace and span of their operation.
- **Secrets are removed** from every text of a span and of a record before it leaves the process, as from the log.
- **Health probes, pages and deliveries of alerts have no spans**: \`/metrics\` counts them.
- **An unavailable or slow endpoint does not affect the recording**: at most 2,048 spans and as many records are queued. Further ones are dropped; the log
  reports the start and the end of that. \`up\` waits up to two seconds for the endpoint when it stops. \`doctor\` checks whether the endpoint is available.
- The variables are listed in [settings](settings.md). gRPC is not supported.
`;

/** Generates the documentation of all metrics, as Markdown. */
export function metricsPage(): string {
  return [
    text,
    `## scrape\n\nState of the scrape.\n\n${table(scrapeFamilies)}`,
    ...metricParts.map(({ name, about, families }) => `## ${name}\n\n${about}\n\n${table(families)}`),
    openTelemetry,
  ].join('\n');
}

const table = (families: readonly Family[]) =>
  markdownTable(
    ['metric', 'type', 'labels', 'description'],
    families.map(({ name, type, labels, help }) => [
      `\`${name}\``,
      type,
      labels.map((label) => `\`${label}\``).join(', '),
      help,
    ]),
  );
