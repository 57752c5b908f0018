// SNS by its certificate: fetched under the guard, only from Amazon's hosts, only for configured topics.
import { createSign } from 'node:crypto'
import https from 'node:https'
import MessageValidator from 'sns-validator'
import { describe, expect, it, vi } from 'vitest'
import type { GuardedFetch, GuardedRequest } from '../../kit/index.ts'
import { openHook } from './fixtures/hook-scene.ts'
import { SNS_KEY, SNS_PEM } from './fixtures/sns-certificate.ts'
import { request } from './fixtures/webhook-requests.ts'

const TOPIC = 'arn:aws:sns:eu-west-1:123456789012:alarms'
const CERTIFICATE = `https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-${'0a'.repeat(16)}.pem`

function snsMessage(now: number, more: Record<string, string> = {}, hash = 'sha256'): string {
  const message: Record<string, string> = {
    Type: 'Notification',
    MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
    TopicArn: TOPIC,
    Subject: 'ALARM: "cpu" in EU (Ireland)',
    Message: '{"AlarmName":"cpu","NewStateValue":"ALARM"}',
    Timestamp: new Date(now).toISOString(),
    SignatureVersion: hash === 'sha256' ? '2' : '1',
    SigningCertURL: CERTIFICATE,
    ...more,
  }
  const names = ['Message', 'MessageId', 'Subject', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type']
  const signed = names.filter((name) => message[name] !== undefined && !(name === 'Subject' && message.Token))
  const text = signed.map((name) => `${name}\n${message[name]}\n`).join('')
  return JSON.stringify({ ...message, Signature: createSign(hash).update(text).sign(SNS_KEY, 'base64') })
}

describe('auth: sns', () => {
  const amazon = () => {
    const asked: GuardedRequest[] = []
    const fetch: GuardedFetch = async (wanted) => {
      asked.push(wanted)
      return { status: 200, headers: {}, body: Buffer.from(SNS_PEM), truncated: false }
    }
    return { asked, fetch }
  }
  const options = { auth: { type: 'sns', topics: [TOPIC] } }

  it('[I17.sns] is verified by its certificate, which is fetched once, under the guard', async () => {
    const { asked, fetch } = amazon()
    const { post, events, now, clock } = await openHook(options, fetch)
    await clock.advance(Date.parse('2030-01-01') - now())
    for (const hash of ['sha256', 'sha1'])
      expect((await post(request({ text: snsMessage(now(), {}, hash) }))).status).toBe(200)
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ url: CERTIFICATE, allowPrivate: false, allowHttp: false })
    expect(events[0]?.messageId).toBe('22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324')
    const changed = snsMessage(now()).replace('cpu', 'gpu')
    expect((await post(request({ text: changed }))).status).toBe(401)
    expect((await post(request({ text: snsMessage(now() - 2 * 86_400_000) }))).status).toBe(401)
    const other = snsMessage(now(), { TopicArn: 'arn:aws:sns:eu-west-1:666:theirs' })
    expect((await post(request({ text: other }))).status).toBe(401)
    for (const text of ['', 'null', '[]', '{"Type":"constructor"}'])
      expect((await post(request({ text }))).status).toBe(401)
    expect(events).toHaveLength(2)
  })

  it('[I17.sns] a certificate URL that points elsewhere is never fetched', async () => {
    const { asked, fetch } = amazon()
    const { post, now, clock } = await openHook(options, fetch)
    await clock.advance(Date.parse('2030-01-01') - now())
    const file = `SimpleNotificationService-${'0a'.repeat(16)}.pem`
    for (const url of [
      `https://127.0.0.1/${file}`,
      `https://169.254.169.254/${file}`,
      `http://sns.eu-west-1.amazonaws.com/${file}`,
      `https://sns.eu-west-1.amazonaws.com.evil.example/${file}`,
      `https://sns.eu-west-1.amazonaws.com@evil.example/${file}`,
      `https://evil.example/sns.eu-west-1.amazonaws.com/${file}`,
      `https://sns.eu-west-1.amazonaws.com:8443/${file}`,
      `https://sns.eu-west-1.amazonaws.com/other.pem`,
      `https://bucket.s3.amazonaws.com/${file}`,
      // Anybody can own such a storage bucket named sns.
      `https://sns.s3-us-west-2.amazonaws.com/${file}`,
      `https://sns.s3-website.amazonaws.com/${file}`,
      `https://sns.execute-api.amazonaws.com/${file}`,
      'file:///etc/passwd',
      '',
    ])
      expect((await post(request({ text: snsMessage(now(), { SigningCertURL: url }) }))).status).toBe(401)
    expect(asked).toEqual([])
  })

  it('[I17.challenges] a verified subscription is confirmed at Amazon, and only there', async () => {
    const { asked, fetch } = amazon()
    const { post, now, clock } = await openHook(options, fetch)
    await clock.advance(Date.parse('2030-01-01') - now())
    const confirmation = (SubscribeURL: string) =>
      snsMessage(now(), { Type: 'SubscriptionConfirmation', Token: 'abc', SubscribeURL })
    const good = 'https://sns.eu-west-1.amazonaws.com/?Action=ConfirmSubscription&Token=abc'
    expect((await post(request({ text: confirmation(good) }))).status).toBe(200)
    expect(asked.map(({ url }) => url)).toEqual([CERTIFICATE, good])
    expect((await post(request({ text: confirmation('https://127.0.0.1/?Action=Confirm') }))).status).toBe(
      503,
    )
    expect(asked).toHaveLength(2)
  })

  it('[I17.vendor-signs] the messages that the tests sign are taken by Amazon’s own validator', async () => {
    const get = vi.spyOn(https, 'get').mockImplementation(((
      _: unknown,
      answer: (response: unknown) => void,
    ) => {
      const listeners: Record<string, (chunk?: Buffer) => void> = {}
      const response = {
        statusCode: 200,
        on(name: string, run: (chunk?: Buffer) => void) {
          listeners[name] = run
          return response
        },
      }
      answer(response)
      listeners.data?.(Buffer.from(SNS_PEM))
      listeners.end?.()
      return { on: () => {} }
    }) as unknown as typeof https.get)
    const verdict = await new Promise<unknown>((done) =>
      new MessageValidator().validate(snsMessage(Date.now()), (error: Error | null) => done(error)),
    )
    get.mockRestore()
    expect(verdict).toBeNull()
  })
})
