"""Google Cloud Datastore in the schema of TensorFlow's uploader: kinds ``Test`` and ``Entry``.

settings: where to, by the environment, and with which credentials. connection: the calls, what an
error means, and whose fault a refusal is. entities: a document as mutations. truncation: JSON cut
to what fits. sink and reader: the two ends.
"""
