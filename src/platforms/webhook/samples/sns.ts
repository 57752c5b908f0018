// Messages of Amazon SNS: docs.aws.amazon.com, "HTTP/HTTPS notification JSON format". Only Amazon can sign them.
import type { Samples } from './sample.ts'

const TopicArn = 'arn:aws:sns:us-west-2:123456789012:MyTopic'
const message = (Type: string, MessageId: string, more: Record<string, string>) => ({
  headers: {
    'content-type': 'text/plain; charset=UTF-8',
    'user-agent': 'Amazon Simple Notification Service Agent',
    'x-amz-sns-message-type': Type,
    'x-amz-sns-message-id': MessageId,
    'x-amz-sns-topic-arn': TopicArn,
  },
  body: { Type, MessageId, TopicArn, Timestamp: '2026-01-05T15:40:15.000Z', SignatureVersion: '2', ...more },
})

export const sns: Samples = {
  Notification: message('Notification', '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324', {
    Subject: 'My First Message',
    Message: 'Hello world!',
  }),
  alarm: message('Notification', '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf325', {
    Subject: 'ALARM: "cpu" in US West (Oregon)',
    Message: JSON.stringify({
      AlarmName: 'cpu',
      AlarmDescription: 'The processors are busy.',
      NewStateValue: 'ALARM',
      OldStateValue: 'OK',
      NewStateReason: 'Threshold Crossed: 1 datapoint (92.1) was greater than the threshold (90.0).',
      Region: 'US West (Oregon)',
    }),
  }),
  SubscriptionConfirmation: message('SubscriptionConfirmation', '165545c9-2a5c-472c-8df2-7ff2be2b3b1b', {
    Token: '2336412f37',
    Message: `You have chosen to subscribe to the topic ${TopicArn}.`,
    SubscribeURL: `https://sns.us-west-2.amazonaws.com/?Action=ConfirmSubscription&TopicArn=${TopicArn}&Token=2336412f37`,
  }),
}
