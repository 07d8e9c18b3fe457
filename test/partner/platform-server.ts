import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Stack } from './stack.ts';

/** What a platform got. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
}

/** A line of what a partner sells. */
export const railOf = (
  rampType: 'ONRAMP' | 'OFFRAMP',
  fromCurrency: string,
  toCurrency: string,
  paymentMethod: string,
) => ({
  rampType,
  fromCurrency,
  toCurrency,
  paymentMethods: [paymentMethod],
  minAmount: '1',
  maxAmount: '100000',
  rate: '1',
});

/** A partner's platform on a port of its own: it takes every order, and keeps what it was sent. */
export async function openPlatform() {
  const received: Received[] = [];
  let taken = 0;
  let answers: Record<string, unknown> = {};
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      const path = request.url ?? '';
      received.push({ path, headers: request.headers, body: JSON.parse(text) as Record<string, unknown> });
      const body = path.endsWith('/redirect-order')
        ? { redirectUrl: 'https://own.example/go', toAmount: '10.4', ...answers }
        : {
            externalOrderId: `OWN-${++taken}`,
            status: 'AWAITING_FUNDS',
            toAmount: '10.5',
            depositInstructions: { bankName: 'Own', iban: 'DE89370400440532013000' },
            ...answers,
          };
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const platform_url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    received,
    /** In place of its own words, from here on. */
    answer(words: Record<string, unknown>) {
      answers = words;
    },
    /** Makes a partner whose platform this is. */
    partner: ({ operator }: Stack, partner_id: string, type: 'INTEGRATION' | 'REDIRECT', rails: readonly object[]) =>
      operator('partners', {
        partner_id,
        name: partner_id,
        type,
        platform_url,
        icon: 'https://own.example/icon.svg',
        terms_url: 'https://own.example/terms',
        privacy_policy_url: 'https://own.example/privacy',
        offering: { rails },
      }),
    close: () => new Promise((closed) => server.close(closed)),
  };
}

export type Platform = Awaited<ReturnType<typeof openPlatform>>;
