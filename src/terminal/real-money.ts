import type { Prompts } from './streams.ts';

/** Marks every amount of a line that a person reads, once it is known to be real money. */
export interface RealMoney {
  /** From now on amounts are real. */
  mark(): void;
  said(line: string): string;
  asked(prompts: Prompts): Prompts;
}

/** `12.50 USDC` becomes `12.50 USDC (MAINNET)`, wherever money is named. Documents for programs name their network. */
export function createRealMoney(): RealMoney {
  let isReal = false;
  const said = (line: string): string => (isReal ? line.replace(/\d USDC\b/g, '$& (MAINNET)') : line);
  return {
    mark: () => {
      isReal = true;
    },
    said,
    asked: (prompts) =>
      isReal
        ? {
            ...prompts,
            confirm: (message, preset) => prompts.confirm(said(message), preset),
            text: (message, check) => prompts.text(said(message), check),
            choose: (message, choices) => prompts.choose(said(message), choices),
          }
        : prompts,
  };
}
