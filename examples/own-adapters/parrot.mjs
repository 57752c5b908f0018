// An example connector: an agent that repeats every message, in capitals with `loud`.
import { z } from 'zod'

const options = z
  .strictObject({ loud: z.boolean().default(false).describe('Says it in capitals.') })
  .describe('A parrot.')

export const version = '1.0.0'

export const connectors = [
  { name: 'parrot', options, docs: 'https://example.com/parrot', create: (deps) => createParrot(deps) },
]

/** @param {import('switchboard/adapter').ConnectorDeps} deps */
export function createParrot(deps) {
  const { loud } = deps.agent.connector.options
  let outlet = null
  return {
    // The parrot keeps no state, so a turn in flight can be delivered again after a crash.
    redelivery: { handed: 'again', seen: 'again', afterTimeout: false },
    window: 1,
    holdsDecisions: true,
    async start(given) {
      outlet = given
      given.presence(true)
    },
    async deliver({ session, turn, text }) {
      // `final` puts the answer and the end of the turn into one commit.
      await outlet.accept({ kind: 'say', session, turn, text: loud ? text.toUpperCase() : text, final: true })
    },
    async stop() {
      outlet?.presence(false)
      outlet = null
    },
  }
}
