"""Fashion-MNIST: small grey images of clothes (Xiao, Rasul and Vollgraf 2017), or silhouettes drawn by the run."""
