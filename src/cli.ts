#!/usr/bin/env node
import { setFlagsFromString } from 'node:v8';
import { Command, CommanderError } from 'commander';
import { type App, type AppOptions, openApp } from './app.ts';
import { coverageCommand, healCommand } from './commands/coverage.ts';
import { datasetsCommand } from './commands/datasets.ts';
import { doctorCommand } from './commands/doctor.ts';
import { letReadersLeave, outputDelivered } from './commands/ending.ts';
import { exitCode } from './commands/exit.ts';
import { type MaintenanceOptions, maintenanceCommand } from './commands/maintenance.ts';
import { tell } from './commands/output.ts';
import { planCommand } from './commands/plan.ts';
import { quarantineCommand } from './commands/quarantine.ts';
import { type QueryOptions, queryCommand } from './commands/query.ts';
import { listReports, type ReportOptions } from './commands/question.ts';
import { backfillCommand, recordCommand } from './commands/record.ts';
import { reportCommand } from './commands/report.ts';
import { sealCommand } from './commands/seal.ts';
import { statusCommand } from './commands/status.ts';
import { rolesOf, upCommand } from './commands/up.ts';
import { verifyCommand } from './commands/verify.ts';
import { readSecrets } from './config/environment.ts';
import { isAway } from './db/away.ts';
import { messageOf, UsageError } from './errors.ts';
import { redactor } from './redaction.ts';
import { runSandbox } from './sandbox.ts';

/** How long the process may take to stop after the first signal, ms. Then it exits with a failure. */
const LONGEST_STOP = 19_000;

/** Aborts when the process is asked to stop, by SIGTERM or SIGINT. More signals change nothing: it is stopping. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const ask = () => {
    if (stop.signal.aborted) return;
    stop.abort();
    setTimeout(() => {
      tell(`chain-recorder did not stop within ${LONGEST_STOP / 1000} s and was ended`);
      process.exit(exitCode.failed);
    }, LONGEST_STOP).unref();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, ask);
  return stop.signal;
}

letReadersLeave();

// Without this the heap grows to several times what is in use, more so on machines with much memory. The recorder often
// shares its machine with the node that it watches.
setFlagsFromString('--heap-growing-percent=30');
setFlagsFromString('--semi-space-growth-factor=1');

// postgres.js reads the server's types on each new connection and does not await the promise. When the connection is cut
// at that moment, the rejection has no handler. The caller that needs the connection gets the error, or another connection.
process.on('unhandledRejection', (error) => {
  if (!isAway(error)) throw error;
});

interface Common {
  config?: string;
  json?: boolean;
}

async function withApp(
  options: AppOptions & { readonly wait?: boolean },
  work: (app: App, signal: AbortSignal) => Promise<number>,
): Promise<void> {
  const signal = stopSignal();
  const app = await openApp(options.wait ? { ...options, patient: signal } : options).catch(
    (error: unknown) => {
      if (options.wait && signal.aborted) return null; // stopped while it waited
      throw error;
    },
  );
  if (!app) return;
  try {
    process.exitCode = await work(app, signal);
  } finally {
    await app.close();
  }
}

const program = new Command('chain-recorder')
  .description(
    "Records what a blockchain network's services and nodes say, with its history, into PostgreSQL.",
  )
  .exitOverride()
  .showHelpAfterError();

/** A command with the options that every command takes. */
function command(name: string, about: string): Command {
  return program
    .command(name)
    .description(about)
    .option('--config <file>', 'the configuration (default: recorder.yaml, or RECORDER_CONFIG)')
    .option('--json', 'print the result as JSON');
}

const collect = (value: string, before: string[]) => [...before, value];

command('up', 'run everything: schedules, workers, server')
  .option('--roles <roles>', 'only these, comma-separated: scheduler, worker, server')
  .action((options: Common & { roles?: string }) => {
    const roles = rolesOf(options.roles);
    return withApp({ config: options.config, migrate: true, wait: true }, async (app, signal) => {
      await upCommand(app, roles, signal);
      return exitCode.done;
    });
  });

command('migrate', 'apply the migrations; safe to run by many').action((options: Common) =>
  withApp({ config: options.config, migrate: true }, async (app) => {
    app.log.info('the database is up to date');
    return exitCode.done;
  }),
);

command('datasets', 'list what can be recorded').action((options: Common) =>
  datasetsCommand({ json: options.json ?? false }),
);

command('plan', 'show what the schedules would ask, in calls and budget units').action((options: Common) =>
  withApp({ config: options.config }, async (app) => {
    await planCommand(app, { json: options.json ?? false });
    return exitCode.done;
  }),
);

command('record', 'record a dataset now, in the foreground')
  .argument('<dataset>')
  .option('--target <key=value>', 'only targets that match; may be given more than once', collect, [])
  .action((dataset: string, options: Common & { target: string[] }) =>
    withApp({ config: options.config }, (app, signal) =>
      recordCommand(app, dataset, { target: options.target, json: options.json ?? false }, signal),
    ),
  );

command('backfill', 'record a past range; run it again to go on where it stopped')
  .argument('<dataset>')
  .requiredOption('--from <time>', 'begin of the range')
  .requiredOption('--to <time>', 'end of the range')
  .option('--target <key=value>', 'only targets that match; may be given more than once', collect, [])
  .action((dataset: string, options: Common & { from: string; to: string; target: string[] }) =>
    withApp({ config: options.config }, (app, signal) =>
      backfillCommand(app, dataset, { ...options, json: options.json ?? false }, signal),
    ),
  );

command('coverage', 'show what is recorded, what is missing and why')
  .argument('[dataset]')
  .action((dataset: string | undefined, options: Common) =>
    withApp({ config: options.config }, async (app) => {
      await coverageCommand(app, dataset, { json: options.json ?? false });
      return exitCode.done;
    }),
  );

command('heal', 'fetch what is missing and can still be fetched')
  .argument('[dataset]')
  .action((dataset: string | undefined, options: Common) =>
    withApp({ config: options.config }, (app, signal) =>
      healCommand(app, dataset, { json: options.json ?? false }, signal),
    ),
  );

command('status', 'show freshness, failures, budgets and quarantine').action((options: Common) =>
  withApp({ config: options.config }, (app) => statusCommand(app, { json: options.json ?? false })),
);

command('quarantine', 'list or show answers that could not be decoded, or decode them again')
  .argument('[action]', 'list, show or redrive', 'list')
  .argument('[id]')
  .action((action: string, id: string | undefined, options: Common) =>
    withApp({ config: options.config }, (app) =>
      quarantineCommand(app, action, id, { json: options.json ?? false }),
    ),
  );

command('query', 'ask one SQL statement, read-only, of the schema reporting')
  .argument('<sql>')
  .option('--format <format>', 'table, csv or json')
  .option('--as-of <time>', 'what was known then; datasets are named without their schema')
  .option('--timeout <duration>', 'how long it may take (default: 60s)')
  .action((sql: string, options: Common & Partial<QueryOptions>) =>
    withApp({ config: options.config }, (app, signal) =>
      queryCommand(
        app,
        sql,
        { ...options, format: options.format ?? (options.json ? 'json' : 'table') },
        signal,
      ),
    ),
  );

command('report', 'answer a ready question, such as top-chains; without a name list them')
  .argument('[report]')
  .option(
    '--from <time>',
    'begin of the window (default: of this month; discrepancies, series-breaks: any time)',
  )
  .option('--to <time>', 'end of the window (default: now)')
  .option('--month <month>', 'sla: the month, such as 2026-11 (default: this one)')
  .option('--as-of <time>', 'what the recorder knew at that moment (default: now)')
  .option(
    '--target <parameter=value>',
    'a parameter of the question, may be given more than once; sla: the uptime promised, in percent (default: health.target)',
    collect,
    [],
  )
  .option('--node <name>', 'uptime, sla: only this node')
  .option('--format <format>', 'table, csv, json; sla also html')
  .action((report: string | undefined, options: Common & Partial<ReportOptions> & { target: string[] }) => {
    const format = options.format ?? (options.json ? 'json' : 'table');
    if (report === undefined) return listReports(format === 'json');
    return withApp({ config: options.config }, (app, signal) =>
      reportCommand(app, report, { ...options, format }, signal),
    );
  });

command('seal', 'seal what was recorded up to now, and print the head')
  .option('--out <file>', 'write the statement to this file, and its signature beside it (.sig)')
  .action((options: Common & { out?: string }) =>
    withApp({ config: options.config }, (app, signal) =>
      sealCommand(app, { ...options, json: options.json ?? false }, signal),
    ),
  );

command('verify', 'hold the record against its seals, and name what was changed since')
  .option('--from <time>', 'begin of the days to look at (default: all)')
  .option('--to <time>', 'end of the days to look at (default: the newest seal)')
  .option('--head <file>', 'a statement that was kept: it must be one of the seals')
  .option('--public-key <file>', 'an ed25519 public key in PEM: every seal must be signed with it')
  .action((options: Common & { from?: string; to?: string; head?: string; publicKey?: string }) =>
    withApp({ config: options.config }, (app, signal) =>
      verifyCommand(app, { ...options, json: options.json ?? false }, signal),
    ),
  );

command('maintenance', 'list or announce windows in which nodes are neither up nor down, or end one')
  .argument('[action]', 'list, announce or end', 'list')
  .argument('[id]')
  .option('--node <name>', 'announce: for this node only')
  .option('--from <time>', 'announce: when it begins (default: now)')
  .option('--to <time>', 'announce: when it ends')
  .option('--reason <text>')
  .action((action: string, id: string | undefined, options: Common & Partial<MaintenanceOptions>) =>
    withApp({ config: options.config }, (app) =>
      maintenanceCommand(app, action, id, { ...options, json: options.json ?? false }),
    ),
  );

command('doctor', 'check configuration, database, queue, upstreams and clock').action((options: Common) =>
  withApp({ config: options.config, migrate: false }, (app) =>
    doctorCommand(app, { json: options.json ?? false }),
  ),
);

command('sandbox', 'run a simulated network that serves all three services')
  .option('--port <port>', 'port to listen on', '8650')
  .option('--host <host>', 'address to listen on', '127.0.0.1')
  .option('--seed <seed>', 'which network', '1')
  .action(async (options: { port: string; host: string; seed: string }) => {
    process.exitCode = await runSandbox([
      '--port',
      options.port,
      '--host',
      options.host,
      '--seed',
      options.seed,
    ]);
  });

/** Prints why the command failed. Secrets are removed: errors of libraries may contain what they were called with. */
const complain = (text: string) => tell(redactor(readSecrets())(text));

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError)
    process.exitCode = error.exitCode === 0 ? exitCode.done : exitCode.usage;
  else if (error instanceof UsageError) {
    for (const problem of error.problems) complain(problem);
    process.exitCode = exitCode.usage;
  } else if (isAway(error)) {
    complain(`the database cannot be reached: ${messageOf(error)}; check DATABASE_URL and that it runs`);
    process.exitCode = exitCode.later;
  } else {
    complain(`chain-recorder failed: ${messageOf(error)}`);
    process.exitCode = exitCode.failed;
  }
}
await outputDelivered();
// An explicit exit: while Node shuts down by itself it handles no signals, and a second SIGTERM would kill the process.
process.exit();
