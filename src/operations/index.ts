// What an operator may ask and do: one list. The API, its description, the reference page and the types of the clients
// are derived from it.

import { AGENTS } from './agents.ts'
import { APPROVALS } from './approvals.ts'
import { AUDIT } from './audit.ts'
import { CONVERSATIONS } from './conversations/conversations.ts'
import { GATEWAY } from './gateway.ts'
import { INTEGRATIONS } from './integrations/integrations.ts'
import { OUTBOX } from './outbox.ts'
import { ACCESS } from './people/access.ts'
import { PEOPLE } from './people/people.ts'
import { SECRETS } from './secrets.ts'
import { SENDING } from './sending.ts'
import { TOKENS } from './tokens.ts'
import { TURNS } from './turns/turns.ts'

export { withContext } from './operation.ts'

export const OPERATIONS = [
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
