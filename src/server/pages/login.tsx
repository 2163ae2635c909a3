import type { Content } from './page.ts';

/**
 * The login page.
 * @param to path of the page to open after the login
 * @param wrong whether a wrong token was sent
 */
export function login(to: string, wrong: boolean): Content {
  return {
    title: 'Unauthorized',
    body: (
      <form class="login" method="post" action="/login">
        <h1>Unauthorized</h1>
        <p>Enter the token of the recorder: the value of RECORDER_TOKEN in its environment.</p>
        <input type="hidden" name="to" value={to} />
        <label for="token">Token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          aria-invalid={wrong}
          aria-describedby={wrong ? 'wrong' : undefined}
        />
        {wrong && (
          <p id="wrong" class="wrong" role="alert">
            The token is wrong.
          </p>
        )}
        <button type="submit">Sign in</button>
      </form>
    ),
  };
}
