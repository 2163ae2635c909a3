import { Argument, Command } from 'commander';
import { exitCode } from '../app/exit-code.ts';
import { UsageError } from '../lib/errors.ts';
import { readVersion } from '../lib/version.ts';
import type { AlertsOptions } from './commands/alerts.ts';
import type { ExportOptions } from './commands/export.ts';
import type { IncidentsOptions } from './commands/incidents.ts';
import type { InitOptions } from './commands/init.ts';
import type { MaintenanceOptions } from './commands/maintenance.ts';
import type { QueryOptions } from './commands/query.ts';
import type { ReportOptions } from './commands/ready-question.ts';
import { createStopSignal, withApp } from './with-app.ts';

/** Options of every command. */
interface Common {
  config?: string;
  json: boolean;
}

const collect = (value: string, before: string[] = []) => [...before, value];

/**
 * Returns the requested format of rows.
 * @throws UsageError if two formats are requested
 */
function formatOf({ format, json }: { format?: string | undefined; json?: boolean }): string {
  if (json && format !== undefined && format !== 'json')
    throw new UsageError([`--json, --format ${format}: say one of them`]);
  return json ? 'json' : (format ?? 'table');
}

/**
 * Defines the command line: every command with its options and an example. `parseAsync` runs the selected
 * command.
 */
export function commandLine(): Command {
  const program = new Command('chain-recorder')
    .description(
      "Records what a blockchain network's services and nodes say, with its history, into PostgreSQL.",
    )
    .version(readVersion())
    .exitOverride()
    .showHelpAfterError('(add --help for the options and an example)');

  /** Adds a command with the options of every command. */
  const command = (name: string, about: string, example: string): Command =>
    program
      .command(name)
      .description(about)
      .addHelpText('after', `\nExample:\n  ${example}`)
      .option('--config <file>', 'the configuration (default: recorder.yaml, or RECORDER_CONFIG)')
      .option('--json', 'print the result as JSON')
      .setOptionValueWithSource('json', false, 'default');

  command('up', 'run everything: schedules, workers, server', 'chain-recorder up --roles worker')
    .option('--roles <roles>', 'only these, comma-separated: scheduler, worker, server')
    .action(async (options: Common & { roles?: string }) => {
      const { parseRoles } = await import('../daemon/roles.ts');
      const roles = parseRoles(options.roles);
      // The server with its pages takes as long to load as everything else: other commands do not load it.
      const load = () => import('../daemon/reload.ts');
      return withApp(
        { config: options.config, migrate: true, wait: true, logLevel: 'info', telemetry: true, load },
        async (app, signal) => {
          await (await load()).upUntilStopped(app, roles, signal);
          return exitCode.done;
        },
      );
    });

  command('migrate', 'apply the migrations; safe to run by many', 'chain-recorder migrate').action(
    (options: Common) =>
      withApp({ config: options.config, migrate: true }, async () =>
        (await import('./commands/migrate.ts')).migrateCommand(options),
      ),
  );

  command('datasets', 'list what can be recorded', 'chain-recorder datasets').action(
    async (options: Common) => (await import('./commands/datasets.ts')).datasetsCommand(options),
  );

  command(
    'plan',
    'show what the schedules would ask, in calls and budget units',
    'chain-recorder plan',
  ).action((options: Common) =>
    withApp({ config: options.config, createsNothing: true }, async (app) => {
      await (await import('./commands/plan.ts')).planCommand(app, options);
      return exitCode.done;
    }),
  );

  command(
    'retention',
    'show the retention: since when each dataset is kept, what would be removed now, what was removed',
    'chain-recorder retention',
  ).action((options: Common) =>
    withApp({ config: options.config }, async (app) => {
      await (await import('../daemon/apply-retention.ts')).retentionCommand(app, options);
      return exitCode.done;
    }),
  );

  command(
    'record',
    'record a dataset now, in the foreground',
    'chain-recorder record validators --target node=validator-1',
  )
    .argument('<dataset>')
    .option('--target <key=value>', 'only targets that match; may be given more than once', collect)
    .action((dataset: string, options: Common & { target?: string[] }) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/record.ts')).recordCommand(
          app,
          dataset,
          { ...options, target: options.target ?? [] },
          signal,
        ),
      ),
    );

  command(
    'backfill',
    'record a past range; run it again to go on where it stopped',
    'chain-recorder backfill metric_points --from 2026-01-01 --to 2026-02-01 --target chain_id=43114',
  )
    .argument('<dataset>')
    .requiredOption('--from <time>', 'begin of the range')
    .requiredOption('--to <time>', 'end of the range')
    .option('--target <key=value>', 'only targets that match; may be given more than once', collect)
    .option('--again', 'request also what is covered: for late items and revisions')
    .action(
      (dataset: string, options: Common & { from: string; to: string; target?: string[]; again?: true }) =>
        withApp({ config: options.config }, async (app, signal) =>
          (await import('./commands/record.ts')).backfillCommand(
            app,
            dataset,
            { ...options, target: options.target ?? [], again: options.again ?? false },
            signal,
          ),
        ),
    );

  command(
    'coverage',
    'show what is recorded, what is missing and why',
    'chain-recorder coverage metric_points',
  )
    .argument('[dataset]')
    .action((dataset: string | undefined, options: Common) =>
      withApp({ config: options.config, createsNothing: true }, async (app) => {
        await (await import('./commands/coverage.ts')).coverageCommand(app, dataset, options);
        return exitCode.done;
      }),
    );

  command('heal', 'fetch what is missing and can still be fetched', 'chain-recorder heal metric_points')
    .argument('[dataset]')
    .action((dataset: string | undefined, options: Common) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/coverage.ts')).healCommand(app, dataset, options, signal),
      ),
    );

  command('status', 'show freshness, failures, budgets and quarantine', 'chain-recorder status').action(
    (options: Common) =>
      withApp({ config: options.config, createsNothing: true }, async (app) =>
        (await import('./commands/status.ts')).statusCommand(app, options),
      ),
  );

  command(
    'quarantine',
    'list or show answers that could not be decoded, or decode them again',
    'chain-recorder quarantine show 17',
  )
    .addArgument(new Argument('[action]').choices(['list', 'show', 'redrive']).default('list'))
    .argument('[id]', 'show: the number of the item')
    .action((action: string, id: string | undefined, options: Common) =>
      withApp({ config: options.config }, async (app) =>
        (await import('./commands/quarantine.ts')).quarantineCommand(app, action, id, options),
      ),
    );

  command(
    'query',
    'ask one SQL statement, read-only, of the schema reporting',
    'chain-recorder query "select node_id, stake_navax from validators order by 2 desc nulls last limit 10" --as-of 2026-10-01',
  )
    .argument('<sql>')
    .option('--format <format>', 'table, csv, json or parquet')
    .option('--as-of <time>', 'what was known then; datasets are named without their schema')
    .option('--timeout <duration>', 'how long it may take (default: 60s)')
    .action((sql: string, options: Common & Partial<QueryOptions>) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/query.ts')).queryCommand(
          app,
          sql,
          { ...options, format: formatOf(options) },
          signal,
        ),
      ),
    );

  command(
    'report',
    'answer a ready question, such as top-chains; without a name list them',
    'chain-recorder report stake-expiring --param days=14\n  chain-recorder report status --out /var/www/status',
  )
    .argument('[report]')
    .option(
      '--from <time>',
      'begin of the window (default: of this month; discrepancies, series-breaks: any time)',
    )
    .option('--to <time>', 'end of the window (default: now)')
    .option('--out <folder>', 'status: the folder for its files')
    .option('--month <month>', 'sla: the month, such as 2026-11 (default: this one)')
    .option('--as-of <time>', 'what the recorder knew at that moment (default: now)')
    .option('--param <key=value>', 'a parameter of a saved query; may be given more than once', collect)
    .option('--slo <percent>', 'sla: the uptime promised (default: health.target)')
    .option('--node <name>', 'uptime, sla: only this node; incident: its node')
    .option('--format <format>', 'table, csv, json; sla and questions also html; incident: markdown, json')
    .action(async (report: string | undefined, options: Common & Partial<ReportOptions>) => {
      const given = { ...options, format: formatOf(options), param: options.param ?? [] };
      if (report === undefined)
        return (await import('./commands/ready-question.ts')).listReports(given.format);
      return withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/report.ts')).reportCommand(app, report, given, signal),
      );
    });

  command(
    'seal',
    'seal what was recorded up to now, and print the head',
    'chain-recorder seal --out seal.txt',
  )
    .option('--out <file>', 'write the statement to this file, and its signature beside it (.sig)')
    .action((options: Common & { out?: string }) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/seal.ts')).sealCommand(app, options, signal),
      ),
    );

  command(
    'verify',
    'hold the record against its seals, and name what was changed since',
    'chain-recorder verify --from 2026-11-01 --head seal.txt',
  )
    .option('--from <time>', 'begin of the days to look at (default: all)')
    .option('--to <time>', 'end of the days to look at (default: the newest seal)')
    .option('--head <file>', 'a statement that was kept: it must be one of the seals')
    .option('--public-key <file>', 'an ed25519 public key in PEM: every seal must be signed with it')
    .action((options: Common & { from?: string; to?: string; head?: string; publicKey?: string }) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/verify.ts')).verifyCommand(app, options, signal),
      ),
    );

  command(
    'export',
    'write files for a warehouse, with a manifest; all: every dataset',
    'chain-recorder export metric_points validators --to /var/lake --incremental',
  )
    .argument('<dataset...>')
    .requiredOption('--to <place>', 'a folder, or s3://BUCKET/PREFIX')
    .option('--format <format>', 'parquet, csv or jsonl', 'parquet')
    .option(
      '--incremental',
      'only what was recorded since the last export there, and files of it that are missing',
    )
    .option('--verify', 'with --incremental: read the files that are there, and write changed ones again')
    .action((datasets: string[], options: Common & Omit<ExportOptions, 'json'>) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/export.ts')).exportCommand(app, datasets, options, signal),
      ),
    );

  command(
    'backup',
    'write the whole record as files, from which restore makes it again; needs no other program',
    'chain-recorder backup --to /var/backups/recorder\n  chain-recorder backup --to s3://my-bucket/recorder',
  )
    .requiredOption(
      '--to <place>',
      'a folder, or s3://BUCKET/PREFIX; a backup that is there is brought up to date',
    )
    .action(async (options: Common & { to: string }) =>
      (await import('./with-database.ts')).withDatabase({ make: false }, async (databaseUrl, signal) =>
        (await import('./commands/backup.ts')).backupCommand(databaseUrl, options, signal),
      ),
    );

  command(
    'restore',
    'make an empty database the record of a backup, or of an export of all, and verify it by its seals',
    'chain-recorder restore --from /var/backups/recorder\n  chain-recorder restore --from s3://my-bucket/recorder',
  )
    .requiredOption('--from <place>', 'what "backup" or "export all" wrote: a folder, or s3://BUCKET/PREFIX')
    .action(async (options: Common & { from: string }) =>
      (await import('./with-database.ts')).withDatabase({ make: true }, async (databaseUrl, signal) =>
        (await import('./commands/restore.ts')).restoreCommand(databaseUrl, options, signal),
      ),
    );

  command(
    'maintenance',
    'list or announce windows in which nodes are neither up nor down, or end one',
    'chain-recorder maintenance announce --node validator-1 --to 2026-12-01T04:00 --reason "new disk"',
  )
    .addArgument(new Argument('[action]').choices(['list', 'announce', 'end']).default('list'))
    .argument('[id]', 'end: the number of the window')
    .option('--node <name>', 'announce: for this node only')
    .option('--from <time>', 'announce: when it begins (default: now)')
    .option('--to <time>', 'announce: when it ends')
    .option('--reason <text>', 'announce: why, for those who look later')
    .action((action: string, id: string | undefined, options: Common & Partial<MaintenanceOptions>) =>
      withApp({ config: options.config }, async (app) =>
        (await import('./commands/maintenance.ts')).maintenanceCommand(app, action, id, options),
      ),
    );

  command(
    'incidents',
    'list when nodes were down, or write down what people knew and did',
    'chain-recorder incidents note validator-1 --by ann --note "restarted after the upgrade" --at 2026-11-22T14:05',
  )
    .addArgument(new Argument('[action]').choices(['list', 'note']).default('list'))
    .argument('[node]', 'the configured node')
    .option('--by <name>', 'note: who says so')
    .option('--note <text>', 'note: what is to be said')
    .option('--at <time>', 'note: what moment it is about (default: now)')
    .action((action: string, node: string | undefined, options: Common & Partial<IncidentsOptions>) =>
      withApp({ config: options.config }, async (app) =>
        (await import('./commands/incidents.ts')).incidentsCommand(app, action, node, options),
      ),
    );

  command(
    'alerts',
    'list alerts, send a trial message, acknowledge an alert, or show what the rules would have said',
    'chain-recorder alerts test ops\n  chain-recorder alerts ack 17 --by ann --note "the disk is ordered"\n  chain-recorder alerts replay --from 2026-10-01 --to 2026-11-01 --rule node-down',
  )
    .addArgument(new Argument('[action]').choices(['list', 'test', 'ack', 'replay']).default('list'))
    .argument('[name]', 'test: the channel; ack: the number of the alert')
    .option('--from <time>', 'list, replay: begin of the range (list by default: a week ago)')
    .option('--to <time>', 'list, replay: end of the range (default: now)')
    .option('--rule <name>', 'list, replay: only this rule')
    .option('--every <duration>', 'replay: from one look to the next (default: 5m)')
    .option('--by <name>', 'ack: who knows of it')
    .option('--note <text>', 'ack: what is to be said of it')
    .action((action: string, name: string | undefined, options: Common & Partial<AlertsOptions>) =>
      withApp({ config: options.config, createsNothing: true }, async (app, signal) =>
        (await import('./commands/alerts.ts')).alertsCommand(app, action, name, options, signal),
      ),
    );

  command(
    'doctor',
    'check configuration, database, queue, upstreams and clock, and report a fix for each problem',
    'chain-recorder doctor',
  ).action(async (options: Common) => {
    process.exitCode = await (await import('./commands/doctor.ts')).doctorCommand(
      options,
      createStopSignal(),
    );
  });

  command(
    'init',
    'write a recorder.yaml; on a terminal it asks for what the options leave out',
    'chain-recorder init --network mainnet --node validator-1=http://10.0.0.11:9650 --chain 43114',
  )
    .option('--network <name>', 'mainnet, fuji or sandbox (default: mainnet)')
    .option('--chain-data <url>', 'the chain data service; "" for none (default: the public one)')
    .option('--metrics <url>', 'the metrics service; "" for none (default: the public one)')
    .option('--node <url>', 'a node, as its URL or NAME=URL; may be given more than once', collect)
    .option('--chain <id>', 'an EVM chain whose metrics are recorded; may be given more than once', collect)
    .option('--node-id <id>', 'a validator to watch; may be given more than once', collect)
    .option('--address <address>', 'an address to watch; may be given more than once', collect)
    .option('--no-check', 'do not ask the upstreams whether they answer')
    .action(async (options: Common & InitOptions) => {
      process.exitCode = await (await import('./commands/init.ts')).initCommand(options, createStopSignal());
    });

  command(
    'completion',
    'print the script that completes commands in a shell: bash, zsh or fish',
    'eval "$(chain-recorder completion bash)"',
  )
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: string) => (await import('./completion.ts')).completionCommand(program, shell));

  command(
    'sandbox',
    'run a simulated network that serves all three services',
    'chain-recorder sandbox --port 8650',
  )
    .option('--port <port>', 'port to listen on', '8650')
    .option('--host <host>', 'address to listen on', '127.0.0.1')
    .option('--seed <seed>', 'which network', '1')
    .action(async (options: { port: string; host: string; seed: string }) => {
      process.exitCode = await (await import('../app/bundled-sandbox.ts')).runSandbox([
        '--port',
        options.port,
        '--host',
        options.host,
        '--seed',
        options.seed,
      ]);
    });

  return program;
}
