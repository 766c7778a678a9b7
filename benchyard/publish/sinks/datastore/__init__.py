"""Google Cloud Datastore in the schema of TensorFlow's uploader: kinds ``Test`` and ``Entry``.

settings: where to, by the environment. credentials: Google's usual ways, within a bounded time.
answers: what an error means. connection: the calls, and whose fault a refusal is.
fitting: JSON cut to what fits. entities: a document as mutations. batches: mutations as commits.
queries: what is asked. sink and reader: the two ends.
"""
