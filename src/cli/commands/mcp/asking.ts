import { randomUUID } from 'node:crypto';
import {
  acceptedContent,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { formatUsdc } from '../../../kernel/money.ts';
import { mainnetUsdc, plainUsdc } from '../../../kernel/usdc.ts';
import { SOLANA_NETWORKS } from '../../../solana/index.ts';
import { harmless, isRecord } from '../../../terminal/index.ts';
import type { CommandDescription } from '../../spec/index.ts';
import type { Document } from './answers.ts';
import { toolName } from './tools.ts';

/** A payment above the allowance, for a person to decide. */
export interface Wanted {
  /** Atomic USDC. */
  readonly amount: bigint;
  /** The plan of the call: what it pays for, to whom, and where. */
  readonly plan: Document;
}

const PATIENCE_MS = 10 * 60_000;
const MOST_QUESTIONS = 100;

/** Thrown if a client of version 2026-07-28 has to ask its person: it repeats the call with the answer. */
export class Question {
  constructor(readonly asked: InputRequiredResult) {}
}

export interface Caller {
  readonly server: Server;
  readonly client: ServerContext;
  /** Open questions to clients of version 2026-07-28: amount and call, by request state. An answer counts once. */
  readonly questions: Map<string, string>;
}

/**
 * Prepares to ask the person behind the client.
 * @returns asks, and gives true only for a yes; null if the client cannot ask
 */
export function askingOf(
  { server, client, questions }: Caller,
  command: CommandDescription,
  line: readonly string[],
  signal: AbortSignal,
) {
  const { envelope, inputResponses, requestState } = client.mcpReq;
  const capabilities = envelope
    ? (envelope as { [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities })[CLIENT_CAPABILITIES_META_KEY]
    : server.getClientCapabilities();
  const { elicitation } = capabilities ?? {};
  if (!elicitation || (elicitation.url && !elicitation.form)) return null;
  return async ({ amount, plan }: Wanted): Promise<boolean> => {
    const requestedSchema = {
      type: 'object' as const,
      properties: {
        pay: {
          type: 'boolean' as const,
          title: `Pay ${formatUsdc(amount)} USDC`,
          description: 'Yes pays exactly this, once. No refuses the call; nothing is paid.',
        },
      },
      required: ['pay'],
    };
    const question = { message: questionOf(command, line, amount, plan), requestedSchema };
    if (envelope) {
      const about = JSON.stringify([String(amount), line]);
      const answered = requestState<string>() ?? '';
      const isIt = questions.get(answered) === about;
      questions.delete(answered);
      if (isIt) return acceptedContent(inputResponses, 'pay')?.pay === true;
      const state = randomUUID();
      questions.set(state, about);
      for (const oldest of [...questions.keys()].slice(0, -MOST_QUESTIONS)) questions.delete(oldest);
      throw new Question(
        inputRequired({ inputRequests: { pay: inputRequired.elicit(question) }, requestState: state }),
      );
    }
    try {
      const said = await server.elicitInput(question, { signal, timeout: PATIENCE_MS });
      return said.action === 'accept' && said.content?.pay === true;
    } catch {
      // No answer is a no.
      return false;
    }
  };
}

function questionOf(command: CommandDescription, line: readonly string[], amount: bigint, plan: Document): string {
  const { payment, fare, request } = plan;
  const { network, host } = isRecord(payment) ? payment : {};
  const usdc = network === SOLANA_NETWORKS.mainnet ? mainnetUsdc : plainUsdc;
  const named = Object.entries(SOLANA_NETWORKS).find(([, id]) => id === network)?.[0] ?? network;
  const where = named === undefined ? '' : ` On Solana ${named}, to ${host}.`;
  const subject = line.slice(line.indexOf('--') + 1).join(' ');
  return harmless(
    `Pay ${usdc(amount)} for ${toolName(command)} ${subject.slice(0, 120)}${journeyOf(fare) || dayOf(request)}?${where} This is above what the server may spend by itself.`,
  );
}

/** `, LIS-BER on 2026-12-20` of a fare that this home knows. */
function journeyOf(fare: unknown): string {
  const [first] = isRecord(fare) && Array.isArray(fare.slices) ? (fare.slices as unknown[]) : [];
  if (!isRecord(first)) return '';
  return `, ${first.origin_iata}-${first.destination_iata} on ${String(first.departing_at).slice(0, 10)}`;
}

const dayOf = (request: unknown): string =>
  isRecord(request) && request.depart_date !== undefined ? ` on ${String(request.depart_date)}` : '';
