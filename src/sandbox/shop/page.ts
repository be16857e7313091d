import { html, raw } from 'hono/html';
import type { Account } from '../state/account.js';
import { linksOf } from './links.js';
import { STYLE, STYLE_HASH } from './style.js';

/** A piece of a page. Everything from outside is escaped. */
export type Html = ReturnType<typeof html>;

/** The contents of a page. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** The account whose shop has the page. */
  readonly account?: Account | undefined;
  /** Default 200. */
  readonly status?: number | undefined;
  /** The faults of the form on the page. Faults without a field are shown at the top. */
  readonly faults?: readonly Fault[] | undefined;
  /** The address that a browser loads after a second, without a script. */
  readonly refresh?: string | false | undefined;
  /** An address outside the shop that a form on the page may redirect to. */
  readonly leadsTo?: URL | undefined;
}

/** Answers with a page. */
export async function show({ status = 200, leadsTo, refresh, ...page }: Page): Promise<Response> {
  return new Response(await layOut(page), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(leadsTo),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      // With no-referrer, a browser would not send the origin of a form.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      // With a longer delay, a browser would keep each reload in its history.
      ...(refresh && { refresh: `1; url=${refresh}` }),
    },
  });
}

/** Redirects a browser after a form, so that reloading the next page does not send the form again. */
export function goTo(location: string | URL): Response {
  return new Response(null, {
    status: 303,
    headers: { location: String(location), 'cache-control': 'no-store' },
  });
}

/** Returns a policy that allows no script. Browsers apply `form-action` also to a redirect that answers a form. */
function policyOf(leadsTo: URL | undefined): string {
  const forms = leadsTo ? `'self' ${leadsTo.origin}` : "'self'";
  return [
    "default-src 'none'",
    `style-src ${STYLE_HASH}`,
    'img-src https:',
    `form-action ${forms}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

function layOut({
  title,
  body,
  account,
  faults = [],
}: Omit<Page, 'status' | 'leadsTo' | 'refresh'>): Html {
  const links = account && linksOf(account);
  const ofNone = faults.filter(({ field }) => field === undefined);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${faults.length > 0 && 'Error: '}${title}${account && ` – ${account.name}`}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
<a class="name" href="${links?.home ?? '/'}">${account?.name ?? 'Sandbox'}</a>
${links && html`<nav aria-label="Shop"><a href="${links.home}">Products</a><a href="${links.contact}">Contact</a></nav>`}
</header>
<main>
${ofNone.length > 0 && html`<div class="card alert" role="alert">${ofNone.map(({ sentence }) => html`<p>${sentence}</p>`)}</div>`}
${body}
</main>
<footer><p>A sandbox: no money moves, and only webhooks are sent.${links && html` <a href="${links.webhooks}">The webhooks of this shop</a>`}</p></footer>
</body>
</html>`;
}

/** A fault of a form. */
export interface Fault {
  readonly sentence: string;
  /** The name of the field with the fault. Absent if the form shows no such field. */
  readonly field?: string | undefined;
}
