import { html, raw } from 'hono/html';
import type { Account } from '../state/account.js';
import { linksOf } from './links.js';
import { STYLE, STYLE_HASH } from './style.js';

/** A piece of a page, in which everything from outside is escaped. */
export type Html = ReturnType<typeof html>;

/** What a page shows. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  /** Whose shop it is in. */
  readonly account?: Account | undefined;
  /** Default 200. */
  readonly status?: number | undefined;
  /** Why what was asked did not happen. */
  readonly refused?: string | undefined;
  /** Where one of its forms may lead in the end, beside the shop. */
  readonly leadsTo?: URL | undefined;
}

/** Answers with a page. */
export async function show({ status = 200, leadsTo, ...page }: Page): Promise<Response> {
  return new Response(await layOut(page), {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(leadsTo),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      // With none at all, a browser would not say of a form that it comes from here.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    },
  });
}

/** Answers a form that was sent: the browser gets the next page, and sends nothing again. */
export function goTo(location: string | URL): Response {
  return new Response(null, {
    status: 303,
    headers: { location: String(location), 'cache-control': 'no-store' },
  });
}

/** Without any script. Where a form is answered by a redirect, browsers ask the policy about that, too. */
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

function layOut({ title, body, account, refused }: Omit<Page, 'status' | 'leadsTo'>): Html {
  const links = account && linksOf(account);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${refused && 'Error: '}${title}${account && ` – ${account.name}`}</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header>
<a class="name" href="${links?.home ?? '/'}">${account?.name ?? 'Sandbox'}</a>
${links && html`<nav aria-label="Shop"><a href="${links.home}">Products</a><a href="${links.contact}">Contact</a></nav>`}
</header>
<main>
${refused && html`<div class="card alert" role="alert"><p>${refused}</p></div>`}
${body}
</main>
<footer><p>A sandbox: no money moves, and nobody is sent anything but webhooks.</p></footer>
</body>
</html>`;
}
