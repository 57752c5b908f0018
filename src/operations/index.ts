// What an operator may ask and do: one list, from which the API, its description and the reference page are made.
import type { Operation } from '../server/api/operation.ts'
import { ACCESS } from './access.ts'
import { AGENTS } from './agents.ts'
import { APPROVALS } from './approvals.ts'
import { AUDIT } from './audit.ts'
import { CONVERSATIONS } from './conversations.ts'
import { GATEWAY } from './gateway.ts'
import { INTEGRATIONS } from './integrations.ts'
import { OUTBOX } from './outbox.ts'
import { PEOPLE } from './people.ts'
import { SECRETS } from './secrets.ts'
import { SENDING } from './sending.ts'
import { TOKENS } from './tokens.ts'
import { TURNS } from './turns.ts'

export const OPERATIONS: readonly Operation[] = [
  ...GATEWAY,
  ...TURNS,
  ...OUTBOX,
  ...APPROVALS,
  ...CONVERSATIONS,
  ...SENDING,
  ...INTEGRATIONS,
  ...AGENTS,
  ...ACCESS,
  ...PEOPLE,
  ...TOKENS,
  ...SECRETS,
  ...AUDIT,
]
