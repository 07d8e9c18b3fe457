import { type Problem, problem } from '../../kernel/problems.ts';
import type { Session } from '../session/index.ts';
import type { CommandSpec } from '../spec/index.ts';
import { again, type Failed, lookOf } from './next-steps.ts';
import { type Known, storyOf, told } from './story.ts';

/** The end of a command that was cut off: what it has done to money and records, and the command to go on with. */
export async function commandCutOff(
  cutOff: Problem,
  spec: Pick<CommandSpec, 'effect' | 'cutOff'>,
  failed: Failed,
): Promise<Problem> {
  const change = changeOf(cutOff, spec, failed);
  const known = { again: await again(failed), ...(await paymentsOf(failed.session)), ...(change && { change }) };
  return told(cutOff, storyOf(known), cutOff);
}

/** The payments that were signed or sent again by this run. */
export async function paymentsOf(session: Pick<Session, 'paidHere'> | null) {
  const payments = (await session?.paidHere.records()) ?? [];
  return { signed: payments.filter((one) => one.open), paid: payments.filter(({ state }) => state === 'answered') };
}

function changeOf(
  { code, message }: Problem,
  { effect, cutOff }: Pick<CommandSpec, 'effect' | 'cutOff'>,
  failed: Failed,
): Known['change'] | null {
  if (effect === 'pays' || effect === 'runs') return null;
  const isAtQuestion = code === 'interrupted' && message !== problem('interrupted').message;
  return effect === 'reads' || isAtQuestion
    ? { said: 'Nothing changed.', look: null }
    : { said: cutOff?.said ?? 'The change may have been made.', look: cutOff ? lookOf(cutOff.look, failed) : null };
}
