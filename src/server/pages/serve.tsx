import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger as Log } from 'pino';
import { z } from 'zod';
import { isDatabaseUnavailable } from '../../db/connection-error.ts';
import type { ReadGate } from '../../db/read-gate.ts';
import { lagText, type Replica } from '../../db/replica.ts';
import { ReplicaUnavailableError } from '../../db/replica-unavailable.ts';
import { TooManyReadsError } from '../../db/semaphore.ts';
import { toErrorMessage } from '../../lib/errors.ts';
import { InvalidRequestError } from '../../reporting/relations/invalid-request.ts';
import { abortOnDisconnect } from '../abort-on-disconnect.ts';
import type { Access } from '../access.ts';
import type { Assets } from '../assets.ts';
import { QueueUnavailableError } from '../queue-unavailable.ts';
import { createQueryRunner } from '../run-query.ts';
import { documentOf } from './document.tsx';
import { login } from './login.tsx';
import type { Content, PageContext } from './page.ts';
import { pages } from './pages.ts';
import * as problems from './problems.tsx';
import { themes } from './view.ts';

const SESSION = 'session';
const THEME = 'theme';
const YEAR = 365 * 86_400;
/** Maximum size of a request head that Node accepts, including the URL, in bytes. */
export const MAX_HEAD_BYTES = 16_384;
/**
 * Maximum size of a form, in bytes. A form contains a choice or a token, and a URL in which each character
 * may be encoded as three.
 */
const MAX_FORM_BYTES = 4 * MAX_HEAD_BYTES;
/** Paths for programs. Error responses on these paths are JSON. */
const PROGRAM_PATHS = /^\/(api\/|health$|ready$|metrics$|openapi\.json$|badge\/|assets\/)|\.(json|csv)$/;

const PAGE = 'text/html; charset=utf-8';

/** Timeout of a page, including its wait for a connection, in ms. */
const PAGE_TIMEOUT_MS = 8_000;

export interface PagesOptions {
  readonly gate: ReadGate;
  /** Replica that the gate reads; null: the gate reads the database itself. */
  readonly replica: Replica | null;
  readonly context: Omit<PageContext, 'read' | 'runQuery'>;
  readonly access: Access;
  readonly assets: Assets;
  readonly log: Pick<Log, 'warn'>;
}

/** A response that refuses a request. */
export interface RefusalResponse {
  /** Media type of the response. */
  readonly type: string;
  readonly body: string;
}

/**
 * Serves the pages and their forms, enforces the access rules for all routes, and sends error responses.
 * @returns a function that creates the response for a request that reaches no route
 */
export function servePages(
  server: FastifyInstance,
  { gate, replica, context, access, assets, log }: PagesOptions,
): (request: FastifyRequest, problem: problems.PageProblem) => RefusalResponse {
  const { clock } = context;

  const callerOf = (request: FastifyRequest, path: string) => ({
    path,
    address: request.socket.remoteAddress,
    authorization: request.headers.authorization,
    session: cookieOf(request, SESSION),
  });
  const pageOf = (request: FastifyRequest, content: Content) =>
    documentOf(content, {
      now: clock(),
      url: request.url,
      theme: themes.find((one) => one === cookieOf(request, THEME)) ?? 'auto',
      session: access.requiresToken && cookieOf(request, SESSION) !== undefined,
      everything: access.admit(callerOf(request, '/'), clock()) === 'allowed',
      file: false,
      assets,
      behind: replica?.found?.error === null ? lagText(replica.found) : null,
    });
  const send = (request: FastifyRequest, reply: FastifyReply, content: Content, status = 200) =>
    reply.code(status).type(PAGE).send(pageOf(request, content));
  const refusalOf = (request: FastifyRequest, problem: problems.PageProblem): RefusalResponse =>
    PROGRAM_PATHS.test(pathOf(request))
      ? {
          type: 'application/json; charset=utf-8',
          body: JSON.stringify({ error: [problem.what, ...(problem.details ?? [])].join('; ') }),
        }
      : { type: PAGE, body: pageOf(request, problems.problemPage(problem)) };
  const refuse = (request: FastifyRequest, reply: FastifyReply, full: problems.PageProblem) => {
    // The details of internal errors are only sent to clients that may read all pages.
    const inside = full.status >= 500 && access.admit(callerOf(request, '/'), clock()) !== 'allowed';
    const problem = inside ? { ...full, details: [] } : full;
    if (problem.retryAfter !== undefined) reply.header('retry-after', problem.retryAfter);
    const { type, body } = refusalOf(request, problem);
    return reply.code(problem.status).type(type).send(body);
  };

  server.addHook('onRequest', async (request, reply) => {
    const caller = callerOf(request, pathOf(request));
    const admission = access.admit(caller, clock());
    if (admission === 'allowed') return;
    if (admission === 'elsewhere') return refuse(request, reply, problems.notThroughProxy);
    reply.header('www-authenticate', 'Bearer realm="chain-recorder"');
    if (PROGRAM_PATHS.test(caller.path)) return refuse(request, reply, problems.noToken);
    return send(request, reply, login(request.url, false), 401);
  });

  for (const page of pages)
    server.get<{ Querystring: Record<string, unknown>; Params: Record<string, unknown> }>(
      page.path,
      async (request, reply) => {
        const disconnected = abortOnDisconnect(reply);
        const signal = AbortSignal.any([disconnected, AbortSignal.timeout(PAGE_TIMEOUT_MS)]);
        const content = await page.answer(
          {
            ...context,
            read: (work) => gate.read(work, signal),
            runQuery: createQueryRunner(gate, disconnected),
          },
          { ...request.query, ...request.params },
        );
        if (content && 'location' in content) return reply.redirect(content.location, 303);
        if (content) return send(request, reply, content);
        return refuse(request, reply, problems.notFound(pathOf(request)));
      },
    );

  serveForms(server);
  server.setNotFoundHandler((request, reply) => refuse(request, reply, problems.notFound(pathOf(request))));
  server.setErrorHandler((error, request, reply) => {
    const problem = problemOf(error);
    if (problem === problems.failed)
      log.warn({ path: pathOf(request), cause: toErrorMessage(error) }, 'a page failed');
    return refuse(request, reply, problem);
  });

  return refusalOf;

  function serveForms(forms: FastifyInstance) {
    forms.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: MAX_FORM_BYTES },
      (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
    );
    forms.get('/login', async (request, reply) => {
      if (!access.requiresToken) return reply.redirect('/', 303);
      return send(request, reply, login('/', false));
    });
    forms.post('/login', async (request, reply) => {
      const { token, to } = loginForm.parse(request.body);
      if (!access.isToken(token)) return send(request, reply, login(to, true), 401);
      setCookie(request, reply, { name: SESSION, ...access.newSession(clock()) });
      return reply.redirect(to, 303);
    });
    forms.post('/logout', async (request, reply) => {
      setCookie(request, reply, { name: SESSION, value: '', seconds: 0 });
      return reply.redirect('/', 303);
    });
    forms.post('/theme', async (request, reply) => {
      const { theme, to } = themeForm.parse(request.body);
      setCookie(request, reply, { name: THEME, value: theme, seconds: YEAR });
      return reply.redirect(to, 303);
    });
  }
}

/** Schema of the path to redirect to. A URL of another server becomes `/`. */
const place = z
  .string()
  .regex(/^\/(?![/\\])[\x20-\x7e]*$/)
  .catch('/');
const loginForm = z.object({ token: z.string().trim().catch(''), to: place });
const themeForm = z.object({ theme: z.enum(themes).catch('auto'), to: place });

const pathOf = ({ url }: FastifyRequest) => url.replace(/[?#].*$/s, '');

/** Returns whether the database cancelled a statement because of its timeout. */
const isTooLong = (error: unknown) => error instanceof Error && 'code' in error && error.code === '57014';
/** Returns whether the timeout of the page expired. */
const isTimeout = (error: unknown) => error instanceof Error && error.name === 'TimeoutError';

/**
 * Returns whether an error was raised by a function of `reporting` because of invalid arguments. These
 * errors, with a message for the user, are raised by `reporting_internal.refused` and
 * `reporting_internal.has_record`.
 */
const isRefusal = (error: unknown) => error instanceof Error && 'code' in error && error.code === '22023';

/** Returns the problem to report for an error that a page or a route threw. */
function problemOf(error: unknown): problems.PageProblem {
  if (error instanceof InvalidRequestError)
    return problems.badRequest(error.problems.map(({ parameter, problem }) => `${parameter}: ${problem}`));
  if (isRefusal(error)) return problems.badRequest([toErrorMessage(error)]);
  if (error instanceof TooManyReadsError) return problems.tooBusy(toErrorMessage(error), error.retryAfter);
  if (error instanceof QueueUnavailableError) return problems.queueUnavailable(error.message);
  if (error instanceof ReplicaUnavailableError) return problems.replicaUnavailable(error.message);
  if (isTooLong(error)) return problems.tooSlow(toErrorMessage(error));
  if (isTimeout(error)) return problems.databaseLate(toErrorMessage(error));
  if (isDatabaseUnavailable(error)) return problems.databaseUnavailable(toErrorMessage(error));
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  return status >= 400 && status < 500
    ? problems.refusedRequest(status, toErrorMessage(error))
    : problems.failed;
}

function cookieOf({ headers }: FastifyRequest, name: string): string | undefined {
  return headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];
}

/**
 * Sets a cookie that scripts cannot read (`HttpOnly`) and that is not sent with requests from other sites
 * (`SameSite=Strict`).
 * @param seconds lifetime of the cookie, in s; 0 deletes the cookie
 */
function setCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  { name, value, seconds }: { readonly name: string; readonly value: string; readonly seconds: number },
): void {
  const cookie = stringifySetCookie({
    name,
    value,
    path: '/',
    maxAge: seconds,
    httpOnly: true,
    sameSite: 'strict',
    // A proxy may terminate TLS.
    secure: request.headers['x-forwarded-proto'] === 'https',
  });
  reply.header('set-cookie', cookie);
}
