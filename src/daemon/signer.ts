// What an integration signs to know it for its own when it comes back (a Message-ID). The key is made of the ledger's key: it
// never changes, is in every backup, and nodes that share SWITCHBOARD_KEY share it.
import { createHmac } from 'node:crypto'

export function createSigner(ledgerKey: Uint8Array): (integration: string) => (text: string) => string {
  return (integration) => {
    const key = createHmac('sha256', ledgerKey).update(`sign:${integration}`).digest()
    return (text) => createHmac('sha256', key).update(text).digest('hex')
  }
}
