import { seeded } from './random.js';

/** A place where the specification does not show what the service does. */
interface Place {
  /** The heading in the specification. */
  readonly section: string;
  /** The sentence of the specification. */
  readonly said: string;
  /** The possible behaviours of the sandbox, with their meanings. All are legal; the first one is the default. */
  readonly choices: Readonly<Record<string, string>>;
}

/** The fourteen places that the specification does not show. */
export const UNKNOWNS = {
  olderCustom: {
    section: 'Product',
    said: 'Shape of custom elements in the older variant: not shown.',
    choices: {
      empty: 'the service returns custom as an empty object, whatever was sent',
      none: 'the service returns custom as null, whatever was sent',
    },
  },
  customerRecords: {
    section: 'Resources and their fields',
    said: 'Feedback and query records: not shown.',
    choices: {
      flat: 'the latest message is a field of the record, message',
      thread: 'all messages are in the record, as a list of messages',
    },
  },
  transitions: {
    section: 'States and transitions',
    said: 'Transitions: not shown.',
    choices: {
      stepwise:
        'a cryptocurrency payment goes through 54, and a wallet payment through 55, before 100',
      direct: 'a payment that needs no confirmation goes from 0 to 100',
    },
  },
  hidingField: {
    section: 'Products',
    said: 'Name of the listing-hiding boolean (private or unlisted): not shown.',
    choices: {
      either: 'the older variant takes private and unlisted',
      private: 'the older variant takes private, and ignores unlisted',
      unlisted: 'the older variant takes unlisted, and ignores private',
    },
  },
  newerProducts: {
    section: 'Products',
    said: 'Which newer fields are required, which others are writable on create and update, and the delete response status: not shown.',
    choices: {
      strict: 'the fields that the older variant requires are required; a deletion is answered 204',
      lenient: 'only the title is required; a deletion is answered 200, without a body',
    },
  },
  confirmationsName: {
    section: 'Payments',
    said: 'Parameter name: not shown.',
    choices: {
      confirmations: 'the parameter is confirmations',
      crypto_confirmations: 'the parameter is crypto_confirmations',
    },
  },
  credentials: {
    section: 'Authentication',
    said: 'Which credential scheme applies to which deployment: not shown.',
    choices: {
      either: 'both schemes open the account',
      'by-variant': 'the newer variant takes bearer only, the older one basic only',
    },
  },
  eventPayloads: {
    section: 'Events',
    said: 'Payload shapes of events other than order events: not shown.',
    choices: {
      record: 'the payload is the record',
      reference: 'the payload is the id of the record and when it changed',
    },
  },
  retries: {
    section: 'Events',
    said: 'Retry timing and the conditions that trigger a retry: not shown.',
    choices: {
      doubling:
        'a webhook without a 2xx answer is retried up to 8 times, after 10 seconds and then after pauses that double; an endpoint is disabled when half of its last 20 webhooks were given up',
      steady:
        'a webhook without a 2xx answer is retried up to 5 times, every 5 minutes; an endpoint is disabled when half of its last 20 webhooks were given up',
      'server-errors':
        'a webhook without an answer, or with the answer 429 or 5xx, is retried up to 8 times, after 10 seconds and then after pauses that double; an endpoint is disabled when half of its last 20 webhooks were given up',
    },
  },
  dynamicCall: {
    section: 'Events',
    said: 'Request and response contract of the dynamic product call: not shown.',
    choices: {
      'post-json':
        'the order is posted as JSON with the headers of a webhook of the event product:dynamic, and has a log; the body of a 2xx answer is the goods, and any other or empty answer is retried',
      'post-unsigned': 'the same, without a signature',
    },
  },
  emission: {
    section: 'Events',
    said: 'Which API operation emits which event: order events follow order activity.',
    choices: {
      both: 'an order that is paid emits order:updated and order:paid',
      'paid-alone': 'an order that is paid emits order:paid alone',
    },
  },
  limits: {
    section: 'Limits',
    said: 'Rate limit thresholds and size limits (a 429 exists): not shown.',
    choices: {
      none: 'no rate limit, and bodies up to 1 MiB',
      tight: '60 requests in a minute, and bodies up to 64 KiB',
    },
  },
  variant: {
    section: 'Versioning',
    said: 'Which one a deployment returns: not shown beyond the differences listed.',
    choices: {
      newer: 'products are of the newer variant',
      older: 'products are of the older variant',
    },
  },
  deprecation: {
    section: 'Versioning',
    said: 'Deprecation policy and version negotiation by header: not shown.',
    choices: {
      silent: 'no header mentions versions',
      announced:
        'every answer announces the end of the version with Deprecation and Sunset headers',
    },
  },
} as const satisfies Readonly<Record<string, Place>>;

type Name = keyof typeof UNKNOWNS;

/** The behaviour of a sandbox at each place that the specification does not show. */
export type Unknowns = {
  readonly [N in Name]: Extract<keyof (typeof UNKNOWNS)[N]['choices'], string>;
};

/** Returns the given choices. Every other place gets its default or, with a seed, a random legal choice. */
export function chooseUnknowns(given: Partial<Unknowns>, seed?: number): Unknowns {
  const random = seed === undefined ? () => 0 : seeded(seed);
  const chosen = Object.entries<Place>(UNKNOWNS).map(([name, { choices }]) => {
    const legal = Object.keys(choices);
    return [name, legal[Math.floor(random() * legal.length)]];
  });
  // Each value is a choice of its own place.
  return { ...(Object.fromEntries(chosen) as Unknowns), ...given };
}
