// One PostgreSQL for all test processes of a run: the process that starts them offers it, they ask for it on first use.
// It is started when the first one asks, so a run that needs none has none.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const OFFER = 'SWITCHBOARD_TEST_POSTGRES'

export interface OfferedPostgres {
  stop(): Promise<void>
}

/** `start` gives the server's URL up to the name of a database, and its end. */
export async function offerPostgres(
  start: () => Promise<{ readonly url: string; stop(): Promise<void> }>,
): Promise<OfferedPostgres> {
  let running: ReturnType<typeof start> | undefined
  const door = createServer((_, reply) => {
    running ??= start()
    running.then(
      ({ url }) => reply.end(url),
      (thrown: unknown) => {
        // One failed start must not fail every test after it.
        running = undefined
        reply.writeHead(500).end(String(thrown))
      },
    )
  })
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve))
  door.unref()
  process.env[OFFER] = `http://127.0.0.1:${(door.address() as AddressInfo).port}/`
  return {
    async stop() {
      delete process.env[OFFER]
      door.closeAllConnections()
      door.close()
      await (await running?.catch(() => undefined))?.stop()
    },
  }
}

/** The URL of the offered server up to the name of a database; null when nobody offers one. */
export async function offeredPostgres(): Promise<string | null> {
  const offer = process.env[OFFER]
  if (offer === undefined) return null
  const reply = await fetch(offer)
  const told = await reply.text()
  if (!reply.ok) throw new Error(`the PostgreSQL of this run does not start: ${told}`)
  return told
}
