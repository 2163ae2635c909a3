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
import type { BackfillOptions } from './commands/record.ts';
import type { ReportOptions } from './commands/saved-query.ts';
import { EXAMPLES } from './examples.ts';
import { createStopSignal, withApp } from './with-app.ts';

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
    throw new UsageError([`--json and --format ${format} exclude each other: use one of them`]);
  return json ? 'json' : (format ?? 'table');
}

/**
 * Defines the command line: every command with its options and an example. `parseAsync` runs the selected
 * command.
 */
export function commandLine(): Command {
  const program = new Command('chain-recorder')
    .description('Records an Avalanche network into PostgreSQL, with its whole history.')
    .version(readVersion())
    .exitOverride()
    .showHelpAfterError('(add --help for the options and an example)');

  /** Adds a command with the common options. */
  const command = (name: keyof typeof EXAMPLES, about: string): Command =>
    program
      .command(name)
      .description(about)
      .addHelpText('after', `\nExample:\n${EXAMPLES[name].replaceAll(/^/gm, '  ')}`)
      .option('--config <file>', 'the configuration (default: recorder.yaml, or RECORDER_CONFIG)')
      .option('--json', 'print the result as JSON')
      .setOptionValueWithSource('json', false, 'default');

  command('up', 'run the recorder: schedules, workers, server')
    .option('--roles <roles>', 'roles to run, comma-separated: scheduler, worker, server (default: all)')
    .action(async (options: Common & { roles?: string }) => {
      const { parseRoles } = await import('../daemon/roles.ts');
      const roles = parseRoles(options.roles);
      (await import('../daemon/log-starting.ts')).logStarting();
      // Loading the server with its pages takes as long as loading everything else, so other commands do not
      // load the server.
      const load = () => import('../daemon/reload.ts');
      return withApp(
        { config: options.config, migrate: true, wait: true, logLevel: 'info', telemetry: true, load },
        async (app, signal) => {
          await (await load()).upUntilStopped(app, roles, signal);
          return exitCode.done;
        },
      );
    });

  command('migrate', 'apply the migrations; can run several times at once').action((options: Common) =>
    withApp({ config: options.config, migrate: true }, async () =>
      (await import('./commands/migrate.ts')).migrateCommand(options),
    ),
  );

  command('datasets', 'list the datasets').action(async (options: Common) =>
    (await import('./commands/datasets.ts')).datasetsCommand(options),
  );

  command('plan', 'show the requests of the schedules, in calls and budget units').action((options: Common) =>
    withApp({ config: options.config, createsNothing: true }, async (app) => {
      await (await import('./commands/plan.ts')).planCommand(app, options);
      return exitCode.done;
    }),
  );

  command(
    'retention',
    'show the retention of each dataset: start of its record, rows to remove now, removed rows',
  ).action((options: Common) =>
    withApp({ config: options.config }, async (app) => {
      await (await import('../daemon/apply-retention.ts')).retentionCommand(app, options);
      return exitCode.done;
    }),
  );

  command('record', 'record a dataset once, in the foreground')
    .argument('<dataset>')
    .option('--target <key=value>', 'only matching targets; repeatable', collect)
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

  command('backfill', 'record a past range; an interrupted run continues when it is repeated')
    .argument('<dataset>')
    .option('--from <time>', 'start of the range')
    .option('--to <time>', 'end of the range, exclusive')
    .option('--from-height <height>', 'start of the range, of blocks by height')
    .option('--to-height <height>', 'end of the range, exclusive (default: where the record starts)')
    .option('--target <key=value>', 'only matching targets; repeatable', collect)
    .option('--again', 'also request covered ranges, for late items and revisions')
    .action(
      (
        dataset: string,
        options: Common &
          Partial<Omit<BackfillOptions, 'target' | 'again'>> & { target?: string[]; again?: true },
      ) =>
        withApp({ config: options.config }, async (app, signal) =>
          (await import('./commands/record.ts')).backfillCommand(
            app,
            dataset,
            { ...options, target: options.target ?? [], again: options.again ?? false },
            signal,
          ),
        ),
    );

  command('coverage', 'show recorded ranges, gaps and their reasons')
    .argument('[dataset]')
    .action((dataset: string | undefined, options: Common) =>
      withApp({ config: options.config, createsNothing: true }, async (app) => {
        await (await import('./commands/coverage.ts')).coverageCommand(app, dataset, options);
        return exitCode.done;
      }),
    );

  command('heal', 'fetch gaps that can still be fetched')
    .argument('[dataset]')
    .action((dataset: string | undefined, options: Common) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/coverage.ts')).healCommand(app, dataset, options, signal),
      ),
    );

  command('status', 'show freshness, failures, budgets and quarantine').action((options: Common) =>
    withApp({ config: options.config, createsNothing: true }, async (app) =>
      (await import('./commands/status.ts')).statusCommand(app, options),
    ),
  );

  command('quarantine', 'list, show or redrive items that could not be decoded')
    .addArgument(new Argument('[action]').choices(['list', 'show', 'redrive']).default('list'))
    .argument('[id]', 'show: id of the item')
    .action((action: string, id: string | undefined, options: Common) =>
      withApp({ config: options.config }, async (app) =>
        (await import('./commands/quarantine.ts')).quarantineCommand(app, action, id, options),
      ),
    );

  command('query', 'run one read-only SQL statement on the schema reporting')
    .argument('<sql>')
    .option('--format <format>', 'table, csv, json or parquet')
    .option('--as-of <time>', 'query the data as of this time; name datasets without their schema')
    .option('--timeout <duration>', 'statement timeout (default: 60s)')
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

  command('report', 'run a saved query, such as top-chains; without a name: list them')
    .argument('[report]')
    .option(
      '--from <time>',
      'start of the window (default: start of this month; discrepancies, series-breaks: unlimited)',
    )
    .option('--to <time>', 'end of the window (default: now)')
    .option('--out <folder>', 'status: the folder for its files')
    .option('--month <month>', 'sla: the month, such as 2026-11 (default: this one)')
    .option('--as-of <time>', 'read the record as of this time (default: now)')
    .option('--param <key=value>', 'a parameter of a saved query; repeatable', collect)
    .option('--slo <percent>', 'sla: the promised uptime (default: health.slo)')
    .option('--node <name>', 'uptime, sla: only this node; incident: its node')
    .option(
      '--format <format>',
      'table, csv, json; sla and saved queries also html; incident: markdown, json',
    )
    .action(async (report: string | undefined, options: Common & Partial<ReportOptions>) => {
      const reportOptions = { ...options, format: formatOf(options), param: options.param ?? [] };
      if (report === undefined)
        return (await import('./commands/saved-query.ts')).listReports(reportOptions.format);
      return withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/report.ts')).reportCommand(app, report, reportOptions, signal),
      );
    });

  command('seal', 'seal the record up to now and print the head')
    .option('--out <file>', 'write the statement to this file, and its signature to FILE.sig')
    .action((options: Common & { out?: string }) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/seal.ts')).sealCommand(app, options, signal),
      ),
    );

  command('verify', 'verify the record against its seals and report changed rows')
    .option('--from <time>', 'first day to verify (default: all)')
    .option('--to <time>', 'end of the days to verify (default: the newest seal)')
    .option('--head <file>', 'a stored statement, which must be one of the seals')
    .option('--public-key <file>', 'ed25519 public key (PEM) that must have signed every seal')
    .action((options: Common & { from?: string; to?: string; head?: string; publicKey?: string }) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/verify.ts')).verifyCommand(app, options, signal),
      ),
    );

  command('export', 'write files for a warehouse, with a manifest; "all": every dataset')
    .argument('<dataset...>')
    .requiredOption('--to <place>', 'a folder, or s3://BUCKET/PREFIX')
    .option('--format <format>', 'parquet, csv or jsonl', 'parquet')
    .option('--incremental', 'only rows recorded since the last export to this place, and its missing files')
    .option('--verify', 'with --incremental: read existing files and rewrite changed ones')
    .action((datasets: string[], options: Common & Omit<ExportOptions, 'json'>) =>
      withApp({ config: options.config }, async (app, signal) =>
        (await import('./commands/export.ts')).exportCommand(app, datasets, options, signal),
      ),
    );

  command('backup', 'write the whole record as files for restore; needs no other program')
    .requiredOption('--to <place>', 'a folder, or s3://BUCKET/PREFIX; an existing backup is updated')
    .action(async (options: Common & { to: string }) =>
      (await import('./with-database.ts')).withDatabase({ make: false }, async (databaseUrl, signal) =>
        (await import('./commands/backup.ts')).backupCommand(databaseUrl, options, signal),
      ),
    );

  command('restore', 'restore a backup, or an export of all, into an empty database and verify its seals')
    .requiredOption('--from <place>', 'folder or s3://BUCKET/PREFIX of a backup or an export of all')
    .action(async (options: Common & { from: string }) =>
      (await import('./with-database.ts')).withDatabase({ make: true }, async (databaseUrl, signal) =>
        (await import('./commands/restore.ts')).restoreCommand(databaseUrl, options, signal),
      ),
    );

  command('maintenance', 'list, announce or end maintenance, in which nodes are neither up nor down')
    .addArgument(new Argument('[action]').choices(['list', 'announce', 'end']).default('list'))
    .argument('[id]', 'end: id of the window')
    .option('--node <name>', 'announce: only this node')
    .option('--from <time>', 'announce: start (default: now)')
    .option('--to <time>', 'announce: end')
    .option('--reason <text>', 'announce: reason')
    .action((action: string, id: string | undefined, options: Common & Partial<MaintenanceOptions>) =>
      withApp({ config: options.config }, async (app) =>
        (await import('./commands/maintenance.ts')).maintenanceCommand(app, action, id, options),
      ),
    );

  command('incidents', 'list outages of nodes, or add a note to one')
    .addArgument(new Argument('[action]').choices(['list', 'note']).default('list'))
    .argument('[node]', 'the configured node')
    .option('--by <name>', 'note: author')
    .option('--note <text>', 'note: text')
    .option('--at <time>', 'note: time that it refers to (default: now)')
    .action((action: string, node: string | undefined, options: Common & Partial<IncidentsOptions>) =>
      withApp({ config: options.config }, async (app) =>
        (await import('./commands/incidents.ts')).incidentsCommand(app, action, node, options),
      ),
    );

  command(
    'alerts',
    'list alerts, send a test message, acknowledge an alert, or replay the rules over past moments',
  )
    .addArgument(new Argument('[action]').choices(['list', 'test', 'ack', 'replay']).default('list'))
    .argument('[name]', 'test: the channel; ack: id of the alert')
    .option('--from <time>', 'list, replay: start of the range (default for list: a week ago)')
    .option('--to <time>', 'list, replay: end of the range (default: now)')
    .option('--rule <name>', 'list, replay: only this rule')
    .option('--every <duration>', 'replay: interval of the evaluation (default: 5m)')
    .option('--by <name>', 'ack: name of the person')
    .option('--note <text>', 'ack: note')
    .action((action: string, name: string | undefined, options: Common & Partial<AlertsOptions>) =>
      withApp({ config: options.config, createsNothing: true }, async (app, signal) =>
        (await import('./commands/alerts.ts')).alertsCommand(app, action, name, options, signal),
      ),
    );

  command(
    'doctor',
    'check configuration, database, queue, upstreams and clock, and report a fix for each problem',
  ).action(async (options: Common) => {
    process.exitCode = await (await import('./commands/doctor.ts')).doctorCommand(
      options,
      createStopSignal(),
    );
  });

  command('init', 'write a recorder.yaml; prompts for missing options on a terminal')
    .option('--network <name>', 'mainnet, fuji or sandbox (default: mainnet)')
    .option('--chain-data <url>', 'the chain data service; "" for none (default: the public one)')
    .option('--metrics <url>', 'the metrics service; "" for none (default: the public one)')
    .option('--node <url>', 'a node, as URL or NAME=URL; repeatable', collect)
    .option('--chain <id>', 'an EVM chain whose metrics are recorded; repeatable', collect)
    .option('--node-id <id>', 'a validator to watch; repeatable', collect)
    .option('--address <address>', 'an address to watch; repeatable', collect)
    .option('--no-check', 'do not check the upstreams')
    .action(async (options: Common & InitOptions) => {
      process.exitCode = await (await import('./commands/init.ts')).initCommand(options, createStopSignal());
    });

  command('completion', 'print the completion script for bash, zsh or fish')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: string) => (await import('./completion.ts')).completionCommand(program, shell));

  command('sandbox', 'run the simulated network with its three services')
    .option('--port <port>', 'port of the server', '8650')
    .option('--host <host>', 'address of the server', '127.0.0.1')
    .option('--seed <seed>', 'seed of the network', '1')
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
