// One PostgreSQL for all test processes of a run. The process that starts them offers it. The first request starts it,
// so a run without requests has no server. Tests that need their own server get a folder to copy, because initialising
// one takes more than a second of processor time.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const OFFER = 'SWITCHBOARD_TEST_POSTGRES'
const FOLDER = '/folder'

export interface OfferedPostgres {
  stop(): Promise<void>
}

export interface PostgresOffer {
  /** Starts the server. Returns its URL up to the name of a database, and a function that stops it. */
  start(): Promise<{ readonly url: string; stop(): Promise<void> }>
  /** Makes a folder for a server that was never started, and a function that removes it. */
  initialise(): Promise<{ readonly folder: string; remove(): void }>
}

export async function offerPostgres(offer: PostgresOffer): Promise<OfferedPostgres> {
  const running = once(offer.start)
  const original = once(offer.initialise)
  const server = createServer((request, reply) => {
    const told =
      request.url === FOLDER
        ? original.get().then(({ folder }) => folder)
        : running.get().then(({ url }) => url)
    told.then(
      (words) => reply.end(words),
      (thrown: unknown) => void reply.writeHead(500).end(String(thrown)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  process.env[OFFER] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    async stop() {
      delete process.env[OFFER]
      server.closeAllConnections()
      server.close()
      await (await running.made())?.stop()
      ;(await original.made())?.remove()
    },
  }
}

/** Makes it on the first request. A failure is not kept, so later requests try again. */
function once<Made>(make: () => Promise<Made>) {
  let made: Promise<Made> | undefined
  return {
    get() {
      const found = made ?? make()
      made = found
      found.catch(() => {
        made = undefined
      })
      return found
    },
    made: async () => made?.catch(() => undefined),
  }
}

/** The URL of the offered server, up to the name of a database. Null without an offer. */
export function offeredPostgres(): Promise<string | null> {
  return ask('')
}

/** The folder of a server that was never started, to be copied. Null without an offer. */
export function offeredPostgresFolder(): Promise<string | null> {
  return ask(FOLDER.slice(1))
}

async function ask(what: string): Promise<string | null> {
  const offer = process.env[OFFER]
  if (offer === undefined) return null
  const reply = await fetch(`${offer}${what}`)
  const told = await reply.text()
  if (!reply.ok) throw new Error(`the PostgreSQL of this run does not start: ${told}`)
  return told
}
