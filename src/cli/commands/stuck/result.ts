import { stuck, stuckItem, stuckPlan } from '../../../flights/desk/stuck-schema.ts';
import { published } from '../../../published/published.ts';

export const stuckList = published(stuck);

export const stuckShow = published(stuckItem);

export const stuckResolve = published(stuckItem, { plan: stuckPlan });
