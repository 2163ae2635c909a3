import type { Family } from './metric.ts';
import { metricParts, scrapeFamilies } from './metrics.ts';

const text = `# Monitoring

Made from the code by \`npm run docs\`; a test holds it current.

\`/metrics\` speaks Prometheus' text format:

\`\`\`yaml
scrape_configs:
  - job_name: chain-recorder
    static_configs: [{ targets: ["127.0.0.1:8080"] }]
    authorization: { credentials_file: /etc/prometheus/recorder-token } # where RECORDER_TOKEN is set
\`\`\`

Ready to use, and tested by \`promtool\`: [recording rules and alert rules](../examples/prometheus), and
[dashboards for Grafana](../examples/grafana), one over Prometheus and one over PostgreSQL.

- **What is read from PostgreSQL is the same from every process**, so that one is enough. Where you scrape several, \`max by (…)\` them
  rather than \`sum\`. What a process did itself is told below under [process](#process).
- **A scrape costs as much as there is to tell of now**: targets, nodes, checks. It does not grow with what is recorded, and the
  database is asked at most once a second, however many scrape.
- **One part that cannot be read costs no other**: its metrics have no sample, \`chain_recorder_scrape_part_success{part="…"}\` is 0,
  and the log says why. Without the database, what this process did and \`chain_recorder_database_reachable 0\` are still told.
- **Labels are names that your configuration gave**, and names of datasets, states and checks. Of checks, which the node names, at most
  100 a probe have a series each.
- \`node_up\` has no prefix, because that is the name that one looks for. All others begin with \`chain_recorder_\`; \`process_\` and
  \`nodejs_\` are prom-client's own, of this process, counted from the first scrape on (\`promtool check metrics\` objects to the endings of three of them).
`;

const openTelemetry = `## Traces and logs by OpenTelemetry

Metrics are told by \`/metrics\` alone. Traces and the log go to a collector by OTLP over HTTP where its endpoint is named; nothing of
OpenTelemetry is loaded otherwise.

\`\`\`sh
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 chain-recorder up
\`\`\`

- **A poll is one trace from the tick to the commit**: \`process polls\` (the tick of the schedule), \`plan\`, \`addBulk polls\`, \`process polls\` (the
  job, in whichever process), \`run\`, and within it \`claim\`, each call of the upstream (\`GET\`, \`POST\`) and each \`commit\`. A run that heals, sweeps or
  backfills has a trace of its own, because one job may heal thousands of holes. What \`up\` plans at its start begins at \`add polls.plan\`.
- **Attributes** begin with \`recorder.\` (\`feed\`, \`target\`, \`reason\`, \`run.id\`, \`run.status\`, \`pages\`, \`rows\`, \`upstream\`) or are OpenTelemetry's own for HTTP, databases
  and queues. \`recorder.run.id\` is \`run_id\` in \`reporting.runs\`. Of a URL there are the host and the path below the configured one, never a query or a header.
- **Log records** are the lines on stderr, from the same level on (\`LOG_LEVEL\`), with the trace and span of the work that wrote them.
- **Secrets are taken out** of every text of a span and of a record before it leaves the process, as they are of the log.
- **Health probes, pages and deliveries of alerts make no spans of calls**: \`/metrics\` counts them.
- **An endpoint that is down, slow or silent disturbs nothing**: at most 2,048 spans and as many records wait, what is more is dropped, and the log says so
  once, and once when it takes them again. The end of \`up\` waits two seconds for it. \`doctor\` asks whether it answers.
- Which variables there are is in [settings](settings.md). gRPC is not spoken.
`;

/** Generates the documentation of all metrics, as Markdown. */
export function metricsPage(): string {
  return [
    text,
    `## scrape\n\nWhat tells of the scrape itself.\n\n${table(scrapeFamilies)}`,
    ...metricParts.map(({ name, about, families }) => `## ${name}\n\n${about}\n\n${table(families)}`),
    openTelemetry,
  ].join('\n');
}

function table(families: readonly Family[]): string {
  const rows = families.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`,
  );
  return `${['| metric | type | labels | means |', '| --- | --- | --- | --- |', ...rows].join('\n')}\n`;
}
