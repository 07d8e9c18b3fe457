export const ALLIANCES = ['oneworld', 'skyteam', 'star'] as const;
export type Alliance = (typeof ALLIANCES)[number];
