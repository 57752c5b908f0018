// Messages of Amazon SNS, signed with a certificate that the message names. The certificate is fetched under the guard,
// and only from Amazon's hosts. Only configured topics are accepted, because any account can sign for its own.
import { createVerify, X509Certificate } from 'node:crypto'
import { type Clock, createBoundedMap } from '../../contract/index.ts'
import type { GuardedFetch } from '../../kit/index.ts'
import type { Auth } from './auth.ts'
import { parseJson } from './structure.ts'

/** A regional host, by its form. `sns.s3-us-west-2.amazonaws.com` is a bucket, and anybody can own one. */
const SNS_HOST = /^sns\.[a-z]{2,4}(?:-[a-z]{2,12}){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?$/
const CERTIFICATE_FILE = /^\/SimpleNotificationService-[0-9a-f]{16,64}\.pem$/
const TIMEOUT_MS = 5_000
const MAX_CERTIFICATE_BYTES = 16_384
const MOST_CERTIFICATES = 16

export interface SnsMessage {
  readonly type: string
  readonly id: string
  readonly topic: string
  readonly subscribeUrl: string | null
}

export interface SnsEndpoint {
  /** Returns the message if its signature is valid, else null. Never throws. */
  verify(auth: Extract<Auth, { kind: 'sns' }>, body: Uint8Array): Promise<SnsMessage | null>
  /** Confirms a verified subscription. True: Amazon confirmed it. */
  confirm(message: SnsMessage): Promise<boolean>
}

/** The signed fields in their order. An absent Subject is left out. */
const SIGNED_OF: Readonly<Record<string, readonly string[]>> = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
}

export function createSnsEndpoint(ask: GuardedFetch, clock: Pick<Clock, 'now'>): SnsEndpoint {
  const certificates = createBoundedMap<string, X509Certificate>(MOST_CERTIFICATES)

  async function get(url: string): Promise<Buffer | null> {
    const limits = { timeoutMs: TIMEOUT_MS, maxResponseBytes: MAX_CERTIFICATE_BYTES }
    const response = await ask({ url, method: 'GET', ...limits, allowPrivate: false, allowHttp: false })
    return response.status === 200 && !response.truncated ? response.body : null
  }

  async function certificateAt(written: string): Promise<X509Certificate | null> {
    const url = amazonUrl(written)
    if (url === null || !CERTIFICATE_FILE.test(url.pathname) || url.search !== '') return null
    const known = certificates.get(url.href)
    if (known !== undefined && isValid(known, clock.now())) return known
    const pem = await get(url.href)
    if (pem === null) return null
    const certificate = new X509Certificate(pem)
    if (!isValid(certificate, clock.now())) return null
    certificates.set(url.href, certificate)
    return certificate
  }

  return {
    async verify(auth, body) {
      const given = parseJson(Buffer.from(body).toString('utf8'))
      const message = typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {}
      const field = (name: string) => {
        const value = Object.hasOwn(message, name) ? message[name] : undefined
        return typeof value === 'string' ? value : null
      }
      const type = field('Type') ?? ''
      const topic = field('TopicArn') ?? ''
      const id = field('MessageId')
      const names = Object.hasOwn(SIGNED_OF, type) ? SIGNED_OF[type] : undefined
      if (names === undefined || id === null || !auth.topics.includes(topic)) return null
      const hash = { '1': 'sha1', '2': 'sha256' }[field('SignatureVersion') ?? '']
      const at = Date.parse(field('Timestamp') ?? '')
      if (hash === undefined || !(Math.abs(clock.now() - at) <= auth.toleranceMs)) return null
      const signed = names
        .flatMap((name) => {
          const value = field(name)
          return value === null ? [] : [`${name}\n${value}\n`]
        })
        .join('')
      try {
        const certificate = await certificateAt(field('SigningCertURL') ?? '')
        if (certificate === null) return null
        const signature = Buffer.from(field('Signature') ?? '', 'base64')
        const holds = createVerify(hash).update(signed, 'utf8').verify(certificate.publicKey, signature)
        return holds ? { type, id, topic, subscribeUrl: field('SubscribeURL') } : null
      } catch {
        // There is no certificate, or no answer. SNS tries again.
        return null
      }
    },
    async confirm({ subscribeUrl }) {
      const url = amazonUrl(subscribeUrl ?? '')
      if (url === null) return false
      return (await get(url.href).catch(() => null)) !== null
    },
  }
}

function amazonUrl(written: string): URL | null {
  if (!URL.canParse(written)) return null
  const url = new URL(written)
  const plain = url.username === '' && url.password === '' && url.port === ''
  return url.protocol === 'https:' && plain && SNS_HOST.test(url.hostname) ? url : null
}

function isValid(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && now <= Date.parse(certificate.validTo)
}
